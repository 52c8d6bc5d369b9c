#include "dht/reachability.h"

#include <gtest/gtest.h>

#include "tests/unit/dht/samples.h"

namespace ostraka::dht::reachability_test {
namespace {

base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }
Endpoint In(std::uint32_t prefix) {
  return Endpoint::V4((std::uint32_t{20} << 24) + (prefix << 8) + 1, 7000);
}
Nonce Mark(std::uint8_t fill) {
  Nonce mark;
  mark.fill(fill);
  return mark;
}

TEST(ReachabilityTest, TwoHelpersOfDifferentPrefixesMakeAServer) {
  Reachability reachability(Role::kAuto);
  EXPECT_FALSE(reachability.server(Scope::kPublic));
  reachability.BeginTest(At(0), Mark(1), In(1));
  reachability.OnPing(At(1), Mark(1), In(9));
  EXPECT_FALSE(reachability.Update(At(1)));
  reachability.BeginTest(At(2), Mark(2), In(1));
  reachability.OnPing(At(3), Mark(2), In(8));
  EXPECT_FALSE(reachability.Update(At(3))) << "one helper twice";
  reachability.BeginTest(At(4), Mark(3), In(2));
  reachability.OnPing(At(5), Mark(3), In(9));
  EXPECT_TRUE(reachability.Update(At(5)));
  EXPECT_TRUE(reachability.server(Scope::kPublic));
  reachability.CheckInvariants();
}

TEST(ReachabilityTest, APingFromWhereWeSentToProvesNothing) {
  Reachability reachability(Role::kAuto);
  for (std::uint8_t i = 1; i <= 4; ++i) {
    reachability.BeginTest(At(0), Mark(i), In(i));
    reachability.OnSent(At(0), In(50));
    Endpoint neighbour = In(50);
    neighbour.address[15] = 77;
    reachability.OnPing(At(1), Mark(i), neighbour);
  }
  reachability.Update(At(1));
  EXPECT_FALSE(reachability.server(Scope::kPublic));
  for (std::uint8_t i = 1; i <= 2; ++i) {
    reachability.BeginTest(At(151), Mark(i), In(i));
    reachability.OnPing(At(151), Mark(i), In(50));
  }
  reachability.Update(At(151));
  EXPECT_TRUE(reachability.server(Scope::kPublic)) << "no NAT remembers that long";
}

TEST(ReachabilityTest, MarksOfNobodyOrTooLateCountNothing) {
  Reachability reachability(Role::kAuto);
  reachability.BeginTest(At(0), Mark(1), In(1));
  reachability.BeginTest(At(0), Mark(2), In(2));
  reachability.OnPing(At(1), Mark(7), In(9));
  reachability.OnPing(At(1), Mark(1), In(9));
  reachability.OnPing(At(1), Mark(1), In(9));
  reachability.Update(At(11));
  reachability.OnPing(At(11), Mark(2), In(9));
  reachability.Update(At(11));
  EXPECT_FALSE(reachability.server(Scope::kPublic));
}

TEST(ReachabilityTest, AServerStaysOneWhileATestOfTheLast25MinutesPassed) {
  Reachability reachability(Role::kAuto);
  for (std::uint8_t i = 1; i <= 2; ++i) {
    reachability.BeginTest(At(100 * i), Mark(i), In(i));
    reachability.OnPing(At(100 * i), Mark(i), In(9));
  }
  EXPECT_TRUE(reachability.Update(At(200)));
  EXPECT_FALSE(reachability.Update(At(1650))) << "the second still counts";
  EXPECT_TRUE(reachability.server(Scope::kPublic));
  EXPECT_TRUE(reachability.Update(At(1701)));
  EXPECT_FALSE(reachability.server(Scope::kPublic));
}

TEST(ReachabilityTest, RolesDecideOtherwiseAndPrivateAddressesNeedNoTest) {
  EXPECT_TRUE(Reachability(Role::kServer).server(Scope::kPublic));
  EXPECT_FALSE(Reachability(Role::kClient).server(Scope::kLoopback));
  EXPECT_TRUE(Reachability(Role::kAuto).server(Scope::kPrivate));
  EXPECT_TRUE(Reachability(Role::kAuto).server(Scope::kLoopback));
  EXPECT_FALSE(Reachability(Role::kAuto).server(Scope::kPublic));
  EXPECT_FALSE(Reachability(Role::kServer).IsDue(At(0)));
  EXPECT_TRUE(Reachability(Role::kAuto).IsDue(At(0)));
}

TEST(ReachabilityTest, RoundsComeAgainAndMemoryIsBounded) {
  Reachability reachability(Role::kAuto);
  reachability.BeginRound(At(0));
  EXPECT_FALSE(reachability.IsDue(At(100)));
  EXPECT_TRUE(reachability.IsDue(At(200)));
  for (std::uint32_t i = 0; i < 3000; ++i) reachability.OnSent(At(0), In(i));
  for (std::uint8_t i = 0; i < 20; ++i) reachability.BeginTest(At(0), Mark(i), In(i));
  reachability.CheckInvariants();
}

}  // namespace
}  // namespace ostraka::dht::reachability_test
