// The faults of a run: within what its mode bears, and unchanged by shrinking.
#include "sim/setup/fault_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/engine/latency.h"

namespace ostraka::sim::fault_plan_test {
namespace {

// Eight peers in mode third, whose t_s is 2; the last of them is Byzantine.
SimOptions Eight() {
  SimOptions options;
  options.peers = 8;
  options.byzantine = 1;
  options.mode = protocol::Mode::kThird;
  options.steps = 40;
  options.crash_down = base::Milliseconds(500);
  return options;
}
Roster RosterOf(const SimOptions& options) {
  Roster roster;
  for (std::uint32_t i = 0; i < options.peers; ++i) {
    base::PeerId id;
    id.bytes.fill(static_cast<std::uint8_t>(i));
    roster.ids.push_back(id);
    roster.byzantine.push_back(i + options.byzantine >= options.peers);
  }
  return roster;
}
FaultPlan Draw(const SimOptions& options, std::uint64_t seed) {
  return DrawFaults(base::Rng(seed), options, RosterOf(options));
}
auto TupleOf(const FaultPlan::Kill& kill) { return std::tuple(kill.down, kill.up, kill.peer); }

TEST(FaultPlan, WithoutFaultsIsEmpty) {
  const FaultPlan plan = Draw(Eight(), 1);
  EXPECT_TRUE(plan.kills.empty());
  EXPECT_TRUE(plan.first_half.empty());
  EXPECT_EQ(plan.over, std::nullopt);
}

TEST(FaultPlan, KillsHonestPeersOnlyAndNoMoreThanTheModeBears) {
  SimOptions options = Eight();
  options.crashes = 12;
  ASSERT_EQ(FaultsBorne(options), 2U);
  std::set<std::uint32_t> ever;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const FaultPlan plan = Draw(options, seed);
    ASSERT_EQ(plan.kills.size(), 12U);
    std::set<std::uint32_t> killed;
    base::Time last;
    for (const FaultPlan::Kill& kill : plan.kills) {
      killed.insert(kill.peer);
      EXPECT_LE(kill.down, kill.up);
      EXPECT_LE(kill.up, kill.down + options.crash_down);
      last = std::max(last, kill.up);
    }
    EXPECT_EQ(killed.size(), 1U) << "one is Byzantine, and two are borne";
    EXPECT_LT(*killed.begin(), 7U);
    EXPECT_EQ(plan.over, last);
    ever.insert(killed.begin(), killed.end());
  }
  EXPECT_GE(ever.size(), 6U) << "every honest peer has its turn";
}

TEST(FaultPlan, ABlackoutKillsAllHonestPeersAtOnce) {
  SimOptions options = Eight();
  options.blackouts = 2;
  const FaultPlan plan = Draw(options, 3);
  ASSERT_EQ(plan.kills.size(), 14U);
  for (std::uint32_t k = 0; k < 14; ++k) {
    EXPECT_EQ(plan.kills[k].peer, k % 7);
    EXPECT_EQ(plan.kills[k].down, plan.kills[k / 7 * 7].down);
  }
  EXPECT_LT(plan.kills[0].down, plan.kills[7].down);
}

TEST(FaultPlan, SparedKillShiftsNoOther) {
  SimOptions options = Eight();
  options.crashes = 5;
  const FaultPlan all = Draw(options, 9);
  options.spared_kills = 0b01010;
  const FaultPlan fewer = Draw(options, 9);
  ASSERT_EQ(fewer.kills.size(), 3U);
  for (const std::size_t k : {0U, 1U, 2U}) {
    EXPECT_EQ(TupleOf(fewer.kills[k]), TupleOf(all.kills[2 * k]));
  }
}

TEST(FaultPlan, ACutHasTwoHalvesAndAnEnd) {
  SimOptions options = Eight();
  options.cut = "halves";
  options.cut_at = base::Seconds(3);
  options.cut_for = base::Seconds(4);
  const FaultPlan plan = Draw(options, 5);
  const std::set<std::uint32_t> half(plan.first_half.begin(), plan.first_half.end());
  EXPECT_EQ(half.size(), 4U);
  EXPECT_LT(*half.rbegin(), 8U);
  EXPECT_EQ(plan.over, base::Time{} + base::Seconds(7));
  EXPECT_EQ(plan.hold, base::Duration{}) << "what a cut link does not carry is lost";
  EXPECT_NE(Draw(options, 6).first_half, plan.first_half) << "who is where is drawn";
  options.cut = "one_way";
  EXPECT_EQ(Draw(options, 5).hold, base::Seconds(4)) << "it hears all when the cut is over";
}

TEST(FaultPlan, MarksThePeersThatAFaultHits) {
  SimOptions options = Eight();
  options.crashes = 3;
  const FaultPlan plan = Draw(options, 2);
  const Roster hit = WithUnlucky(RosterOf(options), options, plan);
  for (std::uint32_t peer = 0; peer < options.peers; ++peer) {
    EXPECT_EQ(hit.IsUnlucky(peer), peer == plan.kills[0].peer) << peer;
  }
  options.cut = "halves";
  const Roster cut = WithUnlucky(RosterOf(options), options, Draw(options, 2));
  EXPECT_TRUE(std::all_of(cut.unlucky.begin(), cut.unlucky.end(), [](bool one) { return one; }));
}

}  // namespace
}  // namespace ostraka::sim::fault_plan_test
