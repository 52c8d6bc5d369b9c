#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace ostraka::crypto::domains_test {
namespace {

// Reads the header itself, so that a new domain is tested without being listed here.
TEST(Domains, AreDistinctAndFitThePersonalisation) {
  std::ifstream file("crypto/domains.h");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex constant("string_view (kDomain\\w+) =\\s*\"([^\"]*)\"");
  std::set<std::string> domains;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), constant);
       it != std::sregex_iterator(); ++it) {
    const std::string domain = (*it)[2];
    EXPECT_TRUE(domains.insert(domain).second) << domain << " is used twice";
    EXPECT_TRUE(std::regex_match(domain, std::regex("[a-z.]{1,14}/[0-9]+"))) << domain;
    EXPECT_LE(domain.size(), 16u) << domain;
  }
  EXPECT_GE(domains.size(), 19u) << "run in the repository's root";
}

}  // namespace
}  // namespace ostraka::crypto::domains_test
