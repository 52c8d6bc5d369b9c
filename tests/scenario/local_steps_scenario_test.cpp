// Local steps and codecs against the real protocol: nobody honest is removed for them, no column is
// void for them, the model learns, and who does other steps than it owes is banned.
#include <gtest/gtest.h>

#include <string>

#include "sim/run/cluster.h"
#include "sim/setup/models.h"

namespace ostraka::sim::local_steps_scenario_test {
namespace {

using protocol::Codec;

SimOptions Options(std::uint64_t inner_steps, protocol::Codecs codecs, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  options.exact = true;
  options.steps = 50;
  if (inner_steps > 1) UseLocalSteps(inner_steps, options);
  options.codecs = codecs;
  return options;
}

SimResult ResultOf(const SimOptions& options) {
  const auto result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << result->failure->checker << ": " << result->failure->message << "\n"
                          << result->replay;
  return *result;
}

constexpr protocol::Codecs kForms[] = {{Codec::kRaw, Codec::kRaw},
                                       {Codec::kI8, Codec::kI16},
                                       {Codec::kI4, Codec::kI16},
                                       {Codec::kI4, Codec::kRaw}};

// Attack on a draft: the rounding of honest results failed the sum check of every column, and their
// owners were dropped.
TEST(LocalSteps, HonestRunsLoseNobodyInAnyForm) {
  for (const std::uint64_t inner_steps : {1, 4}) {
    double raw = 0;
    for (const protocol::Codecs& codecs : kForms) {
      const SimResult result = ResultOf(Options(inner_steps, codecs, 5));
      EXPECT_TRUE(result.removals.empty()) << inner_steps;
      if (codecs == protocol::Codecs{}) raw = result.loss;
      EXPECT_LT(result.loss, raw * 1.1) << inner_steps << protocol::CodecName(codecs.parts);
    }
  }
}

TEST(LocalSteps, OtherStepsThanAreOwedAreABan) {
  for (const char* how : {"0", "1", "3", "4"}) {
    SimOptions options = Options(4, {Codec::kI8, Codec::kI16}, 3);
    options.byzantine = 3;
    options.steps = 80;
    options.attack = "other_steps";
    options.attack_params = {{"how", how}};
    options.attack_from_step = 4;
    const SimResult result = ResultOf(options);
    EXPECT_EQ(result.byzantine_removed, 3U) << how;
    EXPECT_EQ(result.honest_removed, 0U) << how;
    for (const wire::Removal& removal : result.removals) {
      EXPECT_EQ(removal.kind, wire::RemovalKind::kVerdict) << how;
    }
  }
}

// Attack: one scale that decodes to infinity, and whoever states the norm of that result is banned
// for impossible numbers.
TEST(LocalSteps, ResultsThatNoEncoderMakesCostTheirOwnerItsPlace) {
  for (const char* how : {"0", "1", "2"}) {
    SimOptions options = Options(1, {Codec::kRaw, Codec::kI16}, 3);
    options.byzantine = 2;
    options.attack = "spoilt_result";
    options.attack_params = {{"how", how}};
    options.attack_from_step = 4;
    const SimResult result = ResultOf(options);
    EXPECT_GE(result.byzantine_removed, 2U) << how << ": again after each return";
    EXPECT_EQ(result.honest_removed, 0U) << how;
  }
}

}  // namespace
}  // namespace ostraka::sim::local_steps_scenario_test
