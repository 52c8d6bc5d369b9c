// Members that only dial (docs/decisions/0024): runs with some of them, whatever the colluders do
// with what they carry or declare. (The simulator's checkers watch in every step that no honest
// member is removed and none is late.)
#include <gtest/gtest.h>

#include <string>

#include "node/protocol/ground/reach.h"
#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::nat_test {
namespace {

SimOptions Behind(std::uint32_t nat, const Swarm& swarm, const std::string& attack,
                  const AttackParams& params = {}) {
  SimOptions options;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.nat = nat;
  options.attack = attack;
  options.attack_params = params;
  options.steps = 40;
  options.dimension = 200;
  return options;
}

TEST(NatTest, HonestMembersTrainAndNobodyIsRemoved) {
  const SimResult result = RunWithoutHarm(Behind(3, {8, 0}, "none"));
  EXPECT_TRUE(result.removals.empty());
  EXPECT_EQ(result.columns.size(), 1U) << "void columns";
  EXPECT_EQ(result.columns.begin()->first, "applied");
}

// The run takes as many one-way delays as without NAT, some of them by way of a carrier.
TEST(NatTest, TakesNoSlowPathForWantOfALink) {
  const SimResult result = RunWithoutHarm(Behind(3, {8, 0}, "none"));
  EXPECT_EQ(result.slow_steps, 0U);
}

TEST(NatTest, ACheatIsBannedAllTheSame) {
  SimOptions options = Behind(3, {8, 2}, "sign_flip");
  options.steps = 120;
  const SimResult result = RunWithoutHarm(options);
  EXPECT_EQ(MembersRemoved(result), 2U) << result.replay;
}

class Carriers : public testing::TestWithParam<const char*> {};

// Colluders among the carriers of each pair, as many as the run bears.
TEST_P(Carriers, HarmNobody) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Behind(3, {8, 3}, "forward", {{"mode", GetParam()}});
    options.steps = 20;
    options.seed = seed;
    RunWithoutHarm(options);
  }
  if (!InSoak()) return;
  SimOptions options = Behind(7, {16, 7}, "forward", {{"mode", GetParam()}});
  options.steps = 10;
  options.attack_from_step = 1;
  RunWithoutHarm(options);
}
INSTANTIATE_TEST_SUITE_P(DropDelaySplitReplay, Carriers, testing::Values("1", "2", "3", "4"));

// Colluders have honest members carry all that their rations allow, to members whose lines are
// slower than that. It waits apart and is dropped; no link closes for it.
TEST(NatTest, AFloodByWayOfHonestCarriersClosesNoLink) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Behind(3, {8, 3}, "forward", {{"mode", "5"}});
    options.steps = 20;
    options.attack_from_step = 2;
    options.line_bytes_per_second = 1'000'000;
    options.seed = seed;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.faults.links_full, 0U) << result.replay;
    EXPECT_GT(result.faults.carried_dropped, 0U) << result.replay;
  }
}

// An ECHO names messages of others; its signer shows them to one that has no link with it too.
TEST(NatTest, WhatAnEchoNamesIsShownAcrossNats) {
  SimOptions options = Behind(3, {8, 3}, "free", {{"carry", "4"}});
  options.dimension = 1000;
  options.seed = 1;
  RunWithoutHarm(options);
}

TEST(NatTest, FlagsThatChangeInEachStepHarmNobody) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(4); ++seed) {
    SimOptions options = Behind(2, {8, 3}, "flag_flip");
    options.seed = seed;
    RunWithoutHarm(options);
  }
}

// Members that withhold parts and results from members that no other one of their kind can reach.
TEST(NatTest, DisputesAcrossNatsCostNoHonestMember) {
  for (const char* attack : {"selective_send", "withhold_result", "two_faced", "spoilt_part"}) {
    for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
      SimOptions options = Behind(3, {8, 3}, attack);
      options.seed = seed;
      RunWithoutHarm(options);
    }
  }
}

TEST(NatTest, CrashesOfMembersBehindNatsCostNoHonestMember) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Behind(3, {8, 1}, "forward", {{"mode", "1"}});
    options.crashes = 3;
    options.seed = seed;
    RunWithoutHarm(options);
  }
}

// Guests told members of each of the others in turn that there is a path to it, and were told all
// that is said again, beside what all guests may have together (swarm seed 70934). The checker
// "guests" counts it.
TEST(NatTest, GuestsCarryNothing) {
  SimOptions options = Behind(3, {7, 0}, "guest_flood");
  options.attack_from_step = 2;
  options.intruders = 9;
  options.comes = 2;
  options.uplink_bytes_per_second = 300'000;
  options.steps = 20;
  options.cut = "flapping";
  options.cut_at = base::Milliseconds(2'837);
  options.cut_for = base::Milliseconds(3'777);
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(4); ++seed) {
    options.seed = seed;
    const auto result = RunSimulation(options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                            << result->replay;
  }
}

}  // namespace
}  // namespace ostraka::sim::nat_test
