#include "node/base/version.h"

#include <gtest/gtest.h>

namespace ostraka::base::version_test {
namespace {

TEST(VersionTest, HasThreeNumbers) {
  const std::string version = ProgramVersion();
  std::size_t dots = 0;
  for (const char c : version) {
    EXPECT_TRUE(c == '.' || (c >= '0' && c <= '9')) << version;
    dots += c == '.' ? 1 : 0;
  }
  EXPECT_EQ(dots, 2u);
}

}  // namespace
}  // namespace ostraka::base::version_test
