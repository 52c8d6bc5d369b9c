// After an accusation more validators: liars among many members go sooner, and nobody honest does.
#include <gtest/gtest.h>

#include "sim/run/cluster.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::alarm_test {
namespace {

SimOptions SevenOfSixteen(std::uint64_t seed, std::uint32_t alarm_validators) {
  SimOptions options;
  options.seed = seed;
  options.peers = 16;
  options.byzantine = 7;
  options.attack = "sign_flip";
  options.attack_from_step = 3;
  options.steps = 120;
  options.exact = true;
  options.alarm_validators = alarm_validators;
  return options;
}

std::uint64_t StepsToTheLastBan(const SimOptions& options) {
  const auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  EXPECT_EQ(result->honest_removed, 0U);
  EXPECT_TRUE(result->detection_steps.has_value());
  return result->detection_steps.value_or(1'000);
}

TEST(Alarm, TheLastOfSevenLiarsGoesSooner) {
  std::uint64_t with = 0;
  std::uint64_t without = 0;
  for (const std::uint64_t seed : FirstOf<std::uint64_t>({4, 3, 2})) {
    with += StepsToTheLastBan(SevenOfSixteen(seed, 4));
    without += StepsToTheLastBan(SevenOfSixteen(seed, 0));
  }
  EXPECT_LT(with * 3, without * 2);
}

// Attack: colluders ring it for nothing. Each pays with its place, and the run trains on.
TEST(Alarm, FalseOnesCostTheirAccusers) {
  SimOptions options = SevenOfSixteen(4, 4);
  options.attack = "false_accuse";
  options.byzantine = 3;
  options.steps = 40;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << result->failure->message;
  EXPECT_EQ(result->honest_removed, 0U);
  EXPECT_EQ(result->byzantine_removed, 3U);
}

}  // namespace
}  // namespace ostraka::sim::alarm_test
