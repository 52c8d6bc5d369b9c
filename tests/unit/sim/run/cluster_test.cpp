// Small whole runs of the real protocol. The long ones are in tests/scenario.
#include "sim/run/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace ostraka::sim::cluster_test {
namespace {

SimOptions Small() {
  SimOptions options;
  options.peers = 4;
  options.byzantine = 0;
  options.steps = 12;
  options.dimension = 64;
  return options;
}

TEST(RunSimulation, AnHonestRunFinishesAndLearns) {
  SimOptions options = Small();
  options.steps = 60;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->message;
  EXPECT_EQ(result->steps, 60U);
  EXPECT_TRUE(result->removals.empty());
  EXPECT_FALSE(result->detection_steps);
  options.steps = 6;
  const auto shorter = RunSimulation(options);
  EXPECT_LT(result->loss, shorter->loss / 2);
}

// Attacks that leave a loss below the first one, far above what the honest rows alone give.
TEST(RunSimulation, AnUnprotectedRunIsOkOnlyIfItsModelIsNotRuined) {
  SimOptions options;
  options.peers = 8;
  options.unprotected = true;
  options.steps = 60;
  options.dimension = 200;
  for (const char* attack : {"label_flip", "sign_flip"}) {
    options.byzantine = 3;
    options.attack = attack;
    const auto ruined = RunSimulation(options);
    ASSERT_TRUE(ruined.ok()) << ruined.status().message();
    EXPECT_FALSE(ruined->ok) << attack << " ended at loss " << ruined->loss;
    ASSERT_TRUE(ruined->failure.has_value());
    EXPECT_EQ(ruined->failure->checker, "loss");
  }
  options.byzantine = 0;
  options.attack = "none";
  const auto sound = RunSimulation(options);
  ASSERT_TRUE(sound.ok());
  EXPECT_TRUE(sound->ok) << sound->failure->message;
}

TEST(RunSimulation, IsAFunctionOfItsOptions) {
  const auto once = RunSimulation(Small());
  const auto again = RunSimulation(Small());
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->trace_digest, again->trace_digest);
  EXPECT_EQ(once->events, again->events);
  EXPECT_EQ(once->loss, again->loss);

  SimOptions other_seed = Small();
  other_seed.seed = 2;
  EXPECT_NE(RunSimulation(other_seed)->trace_digest, once->trace_digest);
  SimOptions other_option = Small();
  other_option.validators = 2;
  EXPECT_NE(RunSimulation(other_option)->trace_digest, once->trace_digest);
}

TEST(RunSimulation, ItsReplayLineGivesTheSameRun) {
  SimOptions options = Small();
  options.learning_rate = 1.0 / 3;
  const auto result = RunSimulation(options);
  const auto replayed = ParseOptions(result->replay);
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(RunSimulation(*replayed)->trace_digest, result->trace_digest);
}

TEST(RunSimulation, ObserversDoNotChangeTheRun) {
  std::size_t lines = 0;
  const auto watched = RunSimulation(Small(), [&](const std::string&) { ++lines; });
  EXPECT_EQ(watched->trace_digest, RunSimulation(Small())->trace_digest);
  EXPECT_EQ(lines, watched->events);
}

// The attack ends as without liars, and a few seals are slow until the liars are dropped.
TEST(RunSimulation, LiarsMakeSealsSlowBesideAnAttack) {
  SimOptions options = Small();
  options.peers = 7;
  options.byzantine = 2;
  options.attack = "bad_reveal";
  options.attack_from_step = 3;
  options.liars = 1;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->message;
  EXPECT_EQ(result->byzantine_removed, result->removals.size());
  EXPECT_GE(result->removals.size(), 2U);
  EXPECT_GE(result->slow_steps, 1U);
  EXPECT_EQ(result->misdeeds, 1U);
  EXPECT_GE(result->lies, 3U) << "seals A, B and C";
  options.liars = 0;
  const auto without = RunSimulation(options);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->removals.size(), 2U);
  EXPECT_EQ(without->lies, 0U);
}

TEST(RunSimulation, NamesTheCheckerThatFailedAndWhere) {
  SimOptions options = Small();
  options.time_limit = base::Seconds(1);  // too short for twelve steps
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->ok);
  ASSERT_TRUE(result->failure);
  EXPECT_EQ(result->failure->checker, "progress");
  EXPECT_THAT(result->failure->message, testing::HasSubstr("did not finish"));
  EXPECT_THAT(result->replay, testing::HasSubstr("time_limit_ns=1000000000"));
}

TEST(RunSimulation, RefusesOptionsThatCannotRun) {
  SimOptions options = Small();
  options.attack = "tickle";
  EXPECT_EQ(RunSimulation(options).status().code(), absl::StatusCode::kInvalidArgument);
  options = Small();
  options.steps = 0;
  EXPECT_EQ(RunSimulation(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ostraka::sim::cluster_test
