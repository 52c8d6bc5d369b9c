#include "sim/setup/travels.h"

#include <gtest/gtest.h>

#include "sim/run/cluster.h"

namespace ostraka::sim::travels_test {
namespace {

SimOptions Under(const std::string& attack) {
  SimOptions options;
  options.attack = attack;
  options.byzantine = 1;
  options.intruders = 2;
  options.attack_from_step = 5;
  return options;
}

std::uint32_t AttackerOfTheGenesis(const Roster& roster) {
  for (std::uint32_t peer = 0; peer < roster.genesis; ++peer) {
    if (!roster.IsHonest(peer)) return peer;
  }
  return UINT32_MAX;
}

class TravelsTest : public testing::TestWithParam<const char*> {};

TEST_P(TravelsTest, NobodyLeavesBeforeTheAttackBegins) {
  const SimOptions options = Under(GetParam());
  const auto roster = RosterOf(options);
  ASSERT_TRUE(roster.ok()) << roster.status();
  const Travels travels(base::Rng(1), options, *roster);
  for (std::uint32_t peer = 0; peer < roster->ids.size(); ++peer) {
    EXPECT_FALSE(travels.MustLeave(peer, 4)) << peer;
  }
}

INSTANTIATE_TEST_SUITE_P(Attacks, TravelsTest,
                         testing::Values("leave_reroll", "join_churn", "rotate_keys"));

TEST(TravelsTest, WhoRerollsLeavesInSomeSteps) {
  const SimOptions options = Under("leave_reroll");
  const auto roster = RosterOf(options);
  ASSERT_TRUE(roster.ok()) << roster.status();
  const Travels travels(base::Rng(1), options, *roster);
  const std::uint32_t attacker = AttackerOfTheGenesis(*roster);
  int steps = 0;
  for (std::uint64_t step = 5; step < 405; ++step) {
    steps += travels.MustLeave(attacker, step) ? 1 : 0;
    EXPECT_EQ(travels.MustLeave(attacker, step), travels.MustLeave(attacker, step));
  }
  EXPECT_NEAR(steps, 100, 40);
}

TEST(TravelsTest, KeysThatTakeTurnsAreStartedAtTheirs) {
  const SimOptions options = Under("rotate_keys");
  const auto roster = RosterOf(options);
  ASSERT_TRUE(roster.ok()) << roster.status();
  const Travels travels(base::Rng(1), options, *roster);
  EXPECT_FALSE(travels.Starts(AttackerOfTheGenesis(*roster)));
  EXPECT_FALSE(travels.MustLeave(AttackerOfTheGenesis(*roster), 9));
  for (std::uint32_t peer = roster->genesis; peer < roster->ids.size(); ++peer) {
    EXPECT_TRUE(travels.Starts(peer));
    EXPECT_TRUE(travels.MustLeave(peer, 9));
  }
}

}  // namespace
}  // namespace ostraka::sim::travels_test
