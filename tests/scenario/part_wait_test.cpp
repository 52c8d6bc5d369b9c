// Runs whose wait for parts follows them (node/protocol/rules/part_wait.h).
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::part_wait_test {
namespace {

// With the floor of 4 s the wait is there after 46 quiet steps.
SimOptions Adaptive(const Swarm& swarm, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.peers = swarm.peers;
  options.byzantine = swarm.byzantine;
  options.steps = 140;
  options.dimension = 200;
  options.waits.part_floor = base::Seconds(4);
  return options;
}

constexpr std::uint64_t kAtTheFloor = 46;

// No checker fails. A member that is killed is removed, is honest, and comes back.
SimResult RunWithKills(const SimOptions& options) {
  const auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok() && result->ok) << result->replay;
  return *result;
}

// One is killed in mid-run. The others wait for its messages once, 2 P + 2 Delta, and if some have
// seen one of them the seal takes its slow path as well, 20.75 Delta at most (docs/seal.md 6); one
// step is void at most. A run whose wait is the manifest's waits 32 s longer.
TEST(PartWait, ACrashCostsOneShortWaitAndOneVoidStep) {
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 5 && (InSoak() || late == 0); ++seed) {
    SimOptions options = Adaptive({8, 0}, seed);
    const SimResult quiet = RunWithoutHarm(options);
    options.crashes = 1;
    options.crash_down = base::Seconds(25);
    const SimResult killed = RunWithKills(options);
    // Some are back before anybody misses them, or only after the end.
    if (killed.removals.empty() || killed.steps != quiet.steps) continue;
    if (killed.removals.front().step < kAtTheFloor) continue;
    ++late;
    EXPECT_LT(killed.virtual_time.seconds(), quiet.virtual_time.seconds() + 10 + 20.75 + 1)
        << killed.replay;
    std::uint64_t not_applied = 0;
    for (const auto& [fate, count] : killed.columns) not_applied += fate == "applied" ? 0 : count;
    EXPECT_LE(not_applied, options.peers) << killed.replay;
  }
  EXPECT_GE(late, 1) << "or the test says nothing";
}

// All need longer than the least deadline, 2 P + 2 Delta, again and again: nobody is dropped for
// it. [Owners that had no part in time were, at the third column that they could not form.]
TEST(PartWait, MembersSlowerThanTheFloorKeepTheirPlaces) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions options = Adaptive({8, 0}, seed);
    options.steps = 300;
    options.waits.part_floor = base::Seconds(1);
    options.waits.gradient_time = base::Seconds(9);
    const SimResult result = RunWithoutHarm(options);
    EXPECT_TRUE(result.removals.empty()) << result.replay;
    EXPECT_GT(result.columns.size(), 1U) << "no wait was too short: " << result.replay;
    EXPECT_TRUE(result.columns.contains("applied")) << result.replay;
  }
}

class LateOnPurpose : public testing::TestWithParam<std::tuple<const char*, Swarm>> {};

// From a step on at which the wait is short. No honest member pays, and the run goes on.
TEST_P(LateOnPurpose, HarmsNobody) {
  const auto& [attack, swarm] = GetParam();
  SimOptions options = Adaptive(swarm, 1);
  options.attack = attack;
  options.attack_from_step = kAtTheFloor + 5;
  options.await_removal = false;
  RunWithoutHarm(options);
}

INSTANTIATE_TEST_SUITE_P(Attacks, LateOnPurpose,
                         testing::Combine(testing::Values("silent", "late", "selective_send",
                                                          "false_complaint", "withhold_result",
                                                          "two_faced", "dawdle"),
                                          testing::ValuesIn(FirstOf({Swarm{8, 3}, Swarm{9, 2}}))));

}  // namespace
}  // namespace ostraka::sim::part_wait_test
