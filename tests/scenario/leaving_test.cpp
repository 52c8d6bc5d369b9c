// Members that leave by their own word, honest ones and attackers (docs/decisions/0027).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::leaving_test {
namespace {

SimOptions LeavingFrom(const Swarm& swarm, std::uint32_t leaves, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.leaves = leaves;
  options.steps = 30;
  options.dimension = 200;
  return options;
}

// --- honest members ------------------------------------------------------------------------------

class HonestLeave
    : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> {};

// They leave and come back: no column is void, nobody is dropped, all end with one state.
TEST_P(HonestLeave, VoidsNoColumnAndDropsNobody) {
  const auto [peers, validators, leaves] = GetParam();
  for (std::uint64_t seed = 1; seed <= SeedsOfEach(); ++seed) {
    SimOptions options = LeavingFrom({peers, 0}, leaves, seed);
    options.validators = validators;
    options.leave_for = base::Milliseconds(500);  // long enough before the end to be back
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.columns.size(), 1u) << result.replay;
    EXPECT_TRUE(result.columns.contains("applied")) << result.replay;
    EXPECT_EQ(result.returned.size(), leaves) << result.replay;
    EXPECT_TRUE(result.removals.empty()) << result.replay;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HonestLeave,
                         testing::Combine(testing::ValuesIn(FirstOf<std::uint32_t>({8, 9, 16, 17},
                                                                                   2)),
                                          testing::Values(1, 2), testing::Values(1, 3)));

TEST(Leaving, ThreeOfEightGoWhileTheOthersAreAttacked) {
  for (const char* attack : {"sign_flip", "false_proof", "silent"}) {
    SimOptions options = LeavingFrom({8, 1}, 3, 7);
    options.attack = attack;
    options.steps = 60;
    EXPECT_EQ(RunWithoutHarm(options).byzantine_removed, 1u) << attack;
  }
}

TEST(Leaving, MembersThatOnlyDialLeaveToo) {
  SimOptions options = LeavingFrom({10, 0}, 3, 3);
  options.nat = 4;
  RunWithoutHarm(options);
}

// --- attackers -----------------------------------------------------------------------------------

// They say that they leave in the very step of the first misdeed, or soon after. What they did has
// its case first: they are banned as those that stay are. Of several that falsify their numbers at
// once an owner names one in a PROOF, and the others in later steps if they lie again: each such
// step costs them a member.
class LieAndLeave : public testing::TestWithParam<std::tuple<std::string, Swarm>> {};

TEST_P(LieAndLeave, EscapesNothing) {
  const auto& [attack, swarm] = GetParam();
  for (const std::uint64_t after : {0, 1, 2}) {
    SimOptions options = LeavingFrom(swarm, 0, 5 + after);
    options.attack = attack;
    options.attack_from_step = 6;
    options.attackers_leave = 6 + after;
    options.steps = 60;
    RunWithoutHarm(options);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Attacks, LieAndLeave,
    testing::Combine(testing::Values("false_proof", "cover_up", "false_accuse", "wrong_aggregate",
                                     "equivocate", "abort_coin"),
                     testing::ValuesIn(Swarms())),
    [](const auto& run) { return std::get<0>(run.param) + NameOf(std::get<1>(run.param)); });

// Each owner names one liar a step, so owners share the liars out. [By its place among all members
// each named one at random, and of three one escaped in every fourth swarm.]
TEST(LieAndLeave, AllThatLieAndLeaveInOneStepAreNamed) {
  const std::uint64_t seeds = std::max<std::uint64_t>(5, SeedsOfEach());
  for (const Swarm& swarm : FirstOf({Swarm{8, 3}, Swarm{16, 7}})) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SimOptions options = LeavingFrom(swarm, 0, seed);
      options.attack = "false_proof";
      options.attack_from_step = 6;
      options.attackers_leave = 6;
      options.steps = 60;
      RunWithoutHarm(options);  // checker "undetected"
    }
  }
}

// [All named the same one, and of five one was gone before anybody named it.]
TEST(LieAndLeave, OwnersShareOutThoseThatTheyName) {
  const SimOptions options = Replayed(
      "seed=3465 peers=13 byzantine=5 attack=false_size attack_from_step=8 nat=2 attackers_leave=9 "
      "mode=balanced steps=40 validators=3 dimension=62 batch_size=30 delay_min_ns=3333333 "
      "delay_max_ns=4000000 jitter_ns=7000000 bytes_per_second=200000 fsync_max_ns=8000000 "
      "attack.scale=1e6");
  EXPECT_EQ(RunWithoutHarm(options).byzantine_removed, 5u);
}

}  // namespace
}  // namespace ostraka::sim::leaving_test
