// A tiny gpt in the exact trainer of a node, in virtual time: gradient attacks meet attention and
// layer norms instead of least squares, and attacks on single bits meet gradients that exact
// kernels compute. All attackers are removed whom a rule removes, no honest member is, and the
// model learns (the simulator's checkers watch the run in every step).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sim/run/seeds.h"
#include "sim/setup/models.h"
#include "sim/trainers/tiny_text.h"
#include "tests/scenario/attack_runs.h"

namespace ostraka::sim::gpt_test {
namespace {

SimOptions Gpt(const std::string& attack, std::uint32_t byzantine, AttackParams params = {}) {
  SimOptions options;
  options.peers = 8;
  options.byzantine = byzantine;
  options.steps = 60;
  options.attack = attack;
  options.attack_params = std::move(params);
  UseTinyGpt(options);
  return options;
}

// What a run has learnt: of an untrained model each symbol is equally likely.
double GainOf(const SimResult& result) { return std::log(kTinySymbols) - result.loss; }

double HonestGain() {
  static const double kGain = GainOf(RunWithoutHarm(Gpt("none", 0)));
  return kGain;
}

TEST(GptRun, LearnsItsText) { EXPECT_GT(HonestGain(), 0.6); }

class GptUnderGradientAttack : public testing::TestWithParam<const char*> {};

TEST_P(GptUnderGradientAttack, RemovesTheAttackersAndLearns) {
  const SimResult result = RunWithoutHarm(Gpt(GetParam(), 3));
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) {
    EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict);
  }
  EXPECT_GT(GainOf(result), 0.75 * HonestGain());
}

INSTANTIATE_TEST_SUITE_P(Attacks, GptUnderGradientAttack,
                         testing::Values("sign_flip", "label_flip", "alie", "ipm", "min_max",
                                         "opt_alie"),
                         [](const auto& one) { return std::string(one.param); });

// --- what only equal bits show

TEST(GptRun, TheLowestBitOfOneNumberIsABan) {
  const SimResult result = RunWithoutHarm(Gpt("bit_flip", 3, {{"coordinates", "1"}, {"bit", "1"}}));
  EXPECT_EQ(result.byzantine_removed, 3U);
  for (const wire::Removal& removal : result.removals) EXPECT_TRUE(wire::IsBan(removal.kind));
}

TEST(GptRun, OneWrongBitIsNoBanAndOneInEveryStepIs) {
  for (std::uint64_t seed = 1; seed <= SeedsUpTo(3); ++seed) {
    SimOptions once = Gpt("slip", 1);
    once.seed = seed;
    once.validators = 3;
    for (const wire::Removal& removal : RunWithoutHarm(once).removals) {
      EXPECT_FALSE(wire::IsBan(removal.kind)) << wire::TextOf(removal.reason);
    }
    SimOptions always = Gpt("slip", 1, {{"steps", "1000"}});
    always.seed = seed;
    const SimResult result = RunWithoutHarm(always);
    ASSERT_EQ(result.removals.size(), 1U);
    EXPECT_TRUE(wire::IsBan(result.removals.front().kind))
        << wire::TextOf(result.removals.front().reason);
  }
}

TEST(GptRun, ACorruptStateIsDroppedAndComesBack) {
  const SimResult result = RunWithoutHarm(Gpt("corrupt_state", 1));
  ASSERT_EQ(result.removals.size(), 1U);
  EXPECT_FALSE(wire::IsBan(result.removals.front().kind));
  EXPECT_EQ(result.returned.size(), 1U);
}

TEST(GptRun, ClaimedRootsAreDroppedTwice) {
  const SimResult result = RunWithoutHarm(Gpt("claim_root", 3));
  EXPECT_EQ(MembersRemoved(result), 3U);
  for (const wire::Removal& removal : result.removals) EXPECT_FALSE(wire::IsBan(removal.kind));
  EXPECT_GT(GainOf(result), 0.75 * HonestGain());
}

// --- the run itself

TEST(GptRun, EqualSeedsAreEqualEventByEvent) {
  SimOptions options = Gpt("label_flip", 3);
  if (!InSoak()) {
    options.steps = 20;
    options.await_removal = false;
  }
  const auto twice = RunSeed(options, /*twice=*/true);
  ASSERT_TRUE(twice.ok()) << twice.status().message();
  EXPECT_TRUE(twice->ok) << twice->failure->message;
  const SimResult replayed = RunWithoutHarm(Replayed(twice->replay));
  EXPECT_EQ(replayed.trace_digest, twice->trace_digest);
  SimOptions other = options;
  other.seed = 2;
  EXPECT_NE(RunWithoutHarm(other).trace_digest, twice->trace_digest);
}

TEST(GptRun, CrashedMembersGoOnWithEqualBits) {
  SimOptions options = Gpt("sign_flip", 2);
  options.crashes = 4;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->ok) << result->failure->message;
  EXPECT_GT(result->faults.kills, 0U);
  EXPECT_EQ(result->byzantine_removed, 2U);
}

TEST(GptRun, TrainsByEveryOptimizer) {
  for (const auto optimizer : {aggregation::Optimizer::kNesterov, aggregation::Optimizer::kAdamW,
                               aggregation::Optimizer::kLamb}) {
    SimOptions options = Gpt("alie", 3);
    options.optimizer = optimizer;
    options.momentum = optimizer == aggregation::Optimizer::kNesterov ? 0.9 : 0;
    options.clip_norm = 1;
    UseTinyGpt(options);
    EXPECT_GT(GainOf(RunWithoutHarm(options)), 0.6);
  }
}

// Without the protocol's checks the same attack ruins the model, and the checker says so.
TEST(GptRun, UnprotectedItIsRuined) {
  SimOptions options = Gpt("sign_flip", 3);
  options.unprotected = true;
  const auto result = RunSimulation(options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_FALSE(result->ok);
  EXPECT_EQ(result->failure->checker, "loss");
}

}  // namespace
}  // namespace ostraka::sim::gpt_test
