#include "node/cli/doctor/outside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/net/udp/resolver.h"

namespace ostraka::cli::outside_test {
namespace {

using ::testing::HasSubstr;

std::vector<dht::Endpoint> Endpoints(const std::vector<std::string>& texts) {
  std::vector<dht::Endpoint> endpoints;
  for (const std::string& text : texts) endpoints.push_back(net::NumericEndpoint(text).value());
  return endpoints;
}

OutsideFacts Seen(const std::vector<std::string>& seen) {
  return {.asked = 3,
          .local_port = 5000,
          .seen = Endpoints(seen),
          .own = Endpoints({"192.168.1.4:0", "127.0.0.1:0"}),
          .members = {},
          .problem = {},
          .strays = Strays::kUnknown};
}

TEST(JudgeOutsideTest, NamesTheKindOfNat) {
  const auto text = [](const std::vector<std::string>& seen) {
    const Finding finding = JudgeOutside(Seen(seen), 7000);
    EXPECT_EQ(finding.severity, Severity::kWarning);
    EXPECT_THAT(finding.fix, HasSubstr("forward TCP and UDP port 7000"));
    EXPECT_THAT(finding.fix, HasSubstr("--map-port"));
    return finding.text;
  };
  EXPECT_THAT(text({"9.9.9.9:5000", "9.9.9.9:5000"}), HasSubstr("keeps port numbers"));
  EXPECT_THAT(text({"9.9.9.9:6001", "9.9.9.9:6001"}), HasSubstr("alike for all"));
  EXPECT_THAT(text({"9.9.9.9:6001", "9.9.9.9:6002"}), HasSubstr("another port"));
  EXPECT_THAT(text({"9.9.9.9:6001"}), HasSubstr("too few to tell"));
  EXPECT_THAT(JudgeOutside(Seen({"9.9.9.9:6001"}), 0).fix, HasSubstr("the node's port"));
}

TEST(JudgeOutsideTest, SaysWhatTheNatDoesWithStrays) {
  OutsideFacts facts = Seen({"9.9.9.9:5000", "9.9.9.9:5000"});
  EXPECT_THAT(JudgeOutside(facts, 7000).text, HasSubstr("keeps port numbers, so"));
  facts.strays = Strays::kReset;
  EXPECT_THAT(JudgeOutside(facts, 7000).text,
              HasSubstr("keeps port numbers and answers strays with RST, so"));
  facts.strays = Strays::kDropped;
  EXPECT_THAT(JudgeOutside(facts, 7000).text, HasSubstr("keeps port numbers and drops strays, so"));
}

TEST(JudgeOutsideTest, NamesEachAddressThatIsSilentAndHow) {
  OutsideFacts facts = Seen({});
  facts.members = {{"a", "192.0.2.1:1", "refused"}, {"b", "", ""}};
  std::string text = JudgeOutside(facts, 7000).text;
  EXPECT_THAT(text, HasSubstr("192.0.2.1:1: no answer by UDP; TCP: refused"));
  EXPECT_THAT(text, HasSubstr("or UDP is blocked"));
  facts.members.push_back({"c", "192.0.2.2:1", ""});
  text = JudgeOutside(facts, 7000).text;
  EXPECT_THAT(text, HasSubstr("the DHT (UDP) is blocked here, or off there"));
  EXPECT_THAT(text, HasSubstr("192.0.2.2:1: no answer by UDP, though TCP is answered"));
}

TEST(JudgeOutsideTest, AnAddressOfThisMachineIsNoNat) {
  const Finding finding = JudgeOutside(Seen({"192.168.1.4:5000", "127.0.0.1:5000"}), 7000);
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_THAT(finding.text, HasSubstr("no NAT"));
}

TEST(JudgeOutsideTest, NobodyWhoAnswersIsNoFault) {
  EXPECT_EQ(JudgeOutside(Seen({}), 7000).severity, Severity::kOk);
  OutsideFacts facts = Seen({});
  facts.problem = "no socket";
  EXPECT_EQ(JudgeOutside(facts, 7000).severity, Severity::kWarning);
}

}  // namespace
}  // namespace ostraka::cli::outside_test
