// Keys that come into a running swarm from outside, honest ones and attackers
// (docs/decisions/0027).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::coming_test {
namespace {

SimOptions Coming(std::uint32_t peers, std::uint32_t comes, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.peers = peers;
  options.byzantine = 0;
  options.comes = comes;
  options.steps = 40;
  options.dimension = 200;
  return options;
}

// --- honest keys ---------------------------------------------------------------------------------

class HonestCome
    : public testing::TestWithParam<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> {};

// All come in, no column is void, nobody is dropped, and all end with one state.
TEST_P(HonestCome, VoidsNoColumnAndDropsNobody) {
  const auto [peers, validators, comes] = GetParam();
  for (std::uint64_t seed = 1; seed <= SeedsOfEach(); ++seed) {
    SimOptions options = Coming(peers, comes, seed);
    options.validators = validators;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.columns.size(), 1u) << result.replay;
    EXPECT_TRUE(result.columns.contains("applied")) << result.replay;
    EXPECT_EQ(result.returned.size(), comes) << result.replay;
    EXPECT_TRUE(result.removals.empty()) << result.replay;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HonestCome,
                         testing::Combine(testing::ValuesIn(FirstOf<std::uint32_t>({8, 9, 16, 17},
                                                                                   2)),
                                          testing::Values(1, 2), testing::Values(1, 3)));

TEST(Coming, SomeComeWhileOthersLeave) {
  SimOptions options = Coming(8, 3, 5);
  options.leaves = 2;
  options.steps = 60;
  EXPECT_TRUE(RunWithoutHarm(options).removals.empty());
}

TEST(Coming, SomeComeWhileTheOthersAreAttackedAndKilled) {
  for (const char* attack : {"sign_flip", "false_proof", "silent", "equivocate"}) {
    SimOptions options = Coming(10, 2, 7);
    options.byzantine = 2;
    options.attack = attack;
    options.steps = 60;
    options.crashes = 2;
    EXPECT_EQ(RunWithoutHarm(options).byzantine_removed, 2u) << attack;
  }
}

TEST(Coming, MembersThatOnlyDialLetOthersIn) {
  SimOptions options = Coming(10, 2, 3);
  options.nat = 4;
  RunWithoutHarm(options);
}

// Nobody of the genesis is left at the end; each newcomer begins at the block of its day.
TEST(Coming, AllMembersChange) {
  SimOptions options = Coming(5, 0, 17);
  options.turnover = 9;
  options.steps = 150;
  const SimResult result = RunWithoutHarm(options);
  EXPECT_EQ(result.returned.size(), 9u) << result.replay;
  EXPECT_TRUE(result.removals.empty()) << result.replay;
}

// --- attackers -----------------------------------------------------------------------------------

// They come in by a public link, attack, and are banished like those of the genesis.
class Intruders : public testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {};

TEST_P(Intruders, AreBanished) {
  const auto& [attack, byzantine] = GetParam();
  SimOptions options = Coming(8, 1, 11);
  options.byzantine = byzantine;
  options.intruders = 2;
  options.attack = attack;
  options.steps = 80;
  const std::uint32_t removed = RunWithoutHarm(options).byzantine_removed;
  // A cover needs a liar whom an accomplice covers: of three not each does harm.
  EXPECT_GE(removed, attack == "cover_up" ? 1 : byzantine + 2) << attack;
}

INSTANTIATE_TEST_SUITE_P(Attacks, Intruders,
                         testing::Combine(testing::Values("sign_flip", "false_proof", "cover_up",
                                                          "equivocate", "silent"),
                                          testing::Values(0, 1)),
                         [](const auto& run) {
                           return std::get<0>(run.param) + std::to_string(std::get<1>(run.param));
                         });

// An intruder that votes and leaves at once escapes no case of its own.
TEST(Coming, IntrudersThatLieAndLeaveEscapeNothing) {
  for (const char* attack : {"false_proof", "false_accuse", "cover_up"}) {
    SimOptions options = Coming(9, 0, 13);
    options.intruders = 1;
    options.attack = attack;
    options.attackers_leave = 20;
    options.attack_from_step = 20;
    options.steps = 80;
    RunWithoutHarm(options);
  }
}

// What no moderator signed, what is another's, what has ended, is used up or revoked lets nobody
// in, and no more does an invite to follow the run; of two keys with one use one comes in (checker
// "arrivals").
TEST(Coming, WhatIsNoGoodLetsNobodyIn) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Coming(8, 2, seed);
    options.forgers = 7;
    const SimResult result = RunWithoutHarm(options);
    EXPECT_EQ(result.returned.size(), 3u) << "two honest ones, and one of the two with one use";
  }
}

}  // namespace
}  // namespace ostraka::sim::coming_test
