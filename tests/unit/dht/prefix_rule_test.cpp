#include "dht/table/prefix_rule.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::prefix_rule_test {
namespace {

Endpoint V6In(std::uint8_t wide, std::uint8_t narrow) {
  Endpoint endpoint;
  endpoint.address = {0x20, 1, 0, wide, 0, narrow};
  endpoint.address[15] = 1;
  endpoint.port = 1;
  return endpoint;
}

TEST(PrefixRuleTest, CountsByNarrowPrefix) {
  PrefixRule rule({2, 9});
  const Endpoint one = Endpoint::V4(0x14000001, 1);
  const Endpoint two = Endpoint::V4(0x14000002, 1);
  EXPECT_TRUE(rule.Admit(one));
  EXPECT_TRUE(rule.Admit(two));
  EXPECT_FALSE(rule.Admit(Endpoint::V4(0x14000003, 1)));
  EXPECT_TRUE(rule.HasRoom(Endpoint::V4(0x14000103, 1)));
  rule.Remove(one);
  EXPECT_TRUE(rule.HasRoom(one));
  rule.Remove(two);
  EXPECT_TRUE(rule.empty());
}

TEST(PrefixRuleTest, CountsIpv6ByWidePrefixToo) {
  PrefixRule rule({1, 3});
  for (std::uint8_t narrow = 0; narrow < 3; ++narrow) EXPECT_TRUE(rule.Admit(V6In(7, narrow)));
  EXPECT_FALSE(rule.Admit(V6In(7, 3))) << "a fourth /48 of one /32";
  EXPECT_TRUE(rule.Admit(V6In(8, 3)));
  EXPECT_FALSE(rule.Admit(V6In(8, 3))) << "a /48 twice";
}

TEST(PrefixRuleTest, LoopbackAlwaysHasRoom) {
  PrefixRule rule({1, 1});
  const Endpoint loopback = Endpoint::V4(0x7f000001, 1);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(rule.Admit(loopback));
  for (int i = 0; i < 5; ++i) rule.Remove(loopback);
  EXPECT_TRUE(rule.empty());
}

}  // namespace
}  // namespace ostraka::dht::prefix_rule_test
