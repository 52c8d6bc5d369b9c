#include "sim/run/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/setup/models.h"

namespace ostraka::sim::shrink_test {
namespace {

// Fails "progress" whatever its other options are: there is no time for one step.
SimOptions Hurried() {
  SimOptions options;
  options.peers = 6;
  options.byzantine = 1;
  options.attack = "sign_flip";
  options.steps = 12;
  options.dimension = 64;
  options.loss_permille = 10;
  options.skew = base::Seconds(3);
  options.crashes = 2;
  options.time_limit = base::Milliseconds(500);
  return options;
}

TEST(ShrinkTest, LeavesNothingThatCanBeRemoved) {
  const auto result = Shrink(Hurried(), 500);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->failure.checker, "progress");
  const SimOptions& small = result->options;
  EXPECT_EQ(small.peers, 3U);
  EXPECT_EQ(small.byzantine, 0U);
  EXPECT_EQ(small.attack, "none");
  EXPECT_EQ(small.crashes, 0U);
  EXPECT_EQ(small.loss_permille, 0U);
  EXPECT_EQ(small.skew.ns, 0);
  EXPECT_EQ(small.steps, 6U);
  // The result replays, and nothing simpler fails.
  const auto again = RunSimulation(small);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(again->failure.has_value());
  EXPECT_EQ(again->failure->message, result->failure.message);
}

TEST(ShrinkTest, TriesTheToyInPlaceOfTheGptWhichHasOneSize) {
  SimOptions options = Hurried();
  UseTinyGpt(options);
  const auto has = [](const std::vector<Smaller>& found, const std::string& what) {
    return std::any_of(found.begin(), found.end(),
                       [&what](const Smaller& one) { return one.what == what; });
  };
  EXPECT_TRUE(has(Simplifications(options), "the toy problem"));
  EXPECT_FALSE(has(Simplifications(options), "smaller model"));
  EXPECT_FALSE(has(Simplifications(Hurried()), "the toy problem"));
  EXPECT_TRUE(has(Simplifications(Hurried()), "smaller model"));
}

TEST(ShrinkTest, StopsAfterMaxRuns) {
  const auto result = Shrink(Hurried(), 3);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->runs, 3U);
}

TEST(ShrinkTest, ARunThatPassesIsRefused) {
  SimOptions options;
  options.peers = 4;
  options.byzantine = 0;
  options.steps = 6;
  options.dimension = 64;
  EXPECT_EQ(Shrink(options, 10).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ShrinkTest, EveryKillIsTriedByItself) {
  SimOptions options = Hurried();
  options.spared_kills = 2;
  const auto found = Simplifications(options);
  const auto spares = [&](std::uint64_t mask) {
    return std::any_of(found.begin(), found.end(), [&](const Smaller& smaller) {
      return smaller.options.spared_kills == mask;
    });
  };
  EXPECT_TRUE(spares(3));
  EXPECT_FALSE(spares(6));
  for (const Smaller& smaller : found) {
    EXPECT_TRUE(CheckOptions(smaller.options).ok());
    EXPECT_NE(smaller.options, options) << smaller.what;
  }
}

}  // namespace
}  // namespace ostraka::sim::shrink_test
