#include "sim/run/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ostraka::sim::seeds_test {
namespace {

SimOptions Small() {
  SimOptions options;
  options.peers = 4;
  options.byzantine = 1;
  options.attack = "sign_flip";
  options.attack_from_step = 1;
  options.dimension = 64;
  options.steps = 12;
  return options;
}

TEST(RunSeeds, SumsUpAndChainsInOrder) {
  SimOptions honest = Small();
  honest.byzantine = 0;
  std::vector<SimResult> seen;
  const auto all = RunSeeds(honest, 3, 5, [&](const SimResult& one) {
    seen.push_back(one);
    return true;
  });
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->ok);
  EXPECT_EQ(all->seeds, 3U);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(all->steps, seen[0].steps + seen[1].steps + seen[2].steps);
  EXPECT_EQ(all->events, seen[0].events + seen[1].events + seen[2].events);
  EXPECT_EQ(RunSeeds(honest, 3, 5)->trace_digest, all->trace_digest);
  EXPECT_NE(RunSeeds(honest, 3, 4)->trace_digest, all->trace_digest);
}

TEST(RunSeeds, CountsEventsAndTheRulesThatAnswered) {
  SimOptions options = Small();
  options.loss_permille = 50;
  options.duplicate_permille = 50;
  const auto all = RunSeeds(options, 1, 2);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->ok);
  EXPECT_EQ(all->attack_runs.at("sign_flip"), 2U);
  EXPECT_GT(all->misdeeds.at("sign_flip"), 0U);
  EXPECT_GT(all->faults.at("message lost"), 0U);
  EXPECT_GT(all->faults.at("message twice"), 0U);
  EXPECT_EQ(all->faults.at("kill"), 0U);
  ASSERT_EQ(all->rules.size(), 1U);
  EXPECT_THAT(all->rules.begin()->first, testing::StartsWith("verdict: its gradient of step N"));
  EXPECT_EQ(all->rules.begin()->second, 2U);
}

TEST(RunSeeds, KeepsFailuresWithTheirSeedsAndStopsOnRequest) {
  SimOptions options = Small();
  options.time_limit = base::Seconds(1);
  const auto all = RunSeeds(options, 1, 10, [](const SimResult& one) {
    return one.replay.find("seed=2 ") == std::string::npos;
  });
  EXPECT_FALSE(all->ok);
  EXPECT_EQ(all->seeds, 2U);
  ASSERT_EQ(all->failures.size(), 2U);
  EXPECT_THAT(all->failures[1].replay, testing::StartsWith("seed=2 "));
}

TEST(RunSeed, TwiceIsTheSameRun) {
  SimOptions options = Small();
  options.skew = base::Seconds(20);
  options.drift_ppm = 300;
  options.stall_permille = 20;
  const auto once = RunSeed(options, false);
  const auto twice = RunSeed(options, true);
  ASSERT_TRUE(once.ok() && twice.ok());
  EXPECT_TRUE(twice->ok) << twice->failure->message;
  EXPECT_EQ(once->trace_digest, twice->trace_digest);
}

TEST(RuleOf, NamesTheRuleWithoutItsNumbers) {
  wire::Removal removal;
  removal.kind = wire::RemovalKind::kVerdict;
  removal.reason.old_text =
      "its part 12 of step 7: named by 0123456789abcdef, guilty by 3 of 4 votes";
  EXPECT_EQ(RuleOf(removal),
            "verdict: its part N of step N: named by PEER, guilty by N of N votes");
}

}  // namespace
}  // namespace ostraka::sim::seeds_test
