#include "node/cli/doctor/calibration.h"

#include <gmock/gmock.h>

#include <limits>

#include "node/base/rng.h"

namespace ostraka::cli::calibration_test {
namespace {

using ::testing::HasSubstr;

Gradients SomeGradients(double scale = 1) {
  base::Rng rng(1);
  Gradients gradients(kProbeWorkers, std::vector<float>(700));
  for (auto& gradient : gradients) {
    for (float& x : gradient) {
      x = static_cast<float>(scale * (static_cast<double>(rng.Below(2001)) / 1000 - 1));
    }
  }
  return gradients;
}

Gradients Scaled(Gradients gradients, float factor) {
  for (auto& gradient : gradients) {
    for (float& x : gradient) x *= factor;
  }
  return gradients;
}

TEST(NoiseBetween, IsZeroBetweenEqualsAndOfTheSizeOfTheDifference) {
  const Gradients honest = SomeGradients();
  EXPECT_EQ(NoiseBetween(honest, honest, 7), 0);
  for (const double share : {1e-5, 1e-4, 1e-3}) {
    const double noise = NoiseBetween(Scaled(honest, static_cast<float>(1 + share)), honest, 7);
    EXPECT_GT(noise, 0.3 * share);
    EXPECT_LT(noise, 3 * share);
  }
}

// The noise is relative: the scale of a run's learning problem does not matter.
TEST(NoiseBetween, DoesNotDependOnTheScale) {
  const auto noise = [](double scale) {
    const Gradients honest = SomeGradients(scale);
    return NoiseBetween(Scaled(honest, 1.0001F), honest, 7);
  };
  EXPECT_NEAR(noise(1024) / noise(1), 1, 0.05);
}

TEST(NoiseBetween, TheWorstPartCounts) {
  const Gradients honest = SomeGradients();
  Gradients other = honest;
  for (std::size_t i = 100; i < 200; ++i) other[3][i] *= 1.001F;
  EXPECT_GT(NoiseBetween(other, honest, 7), 1e-4);
}

TEST(NoiseBetween, NonFiniteValuesGiveInfinity) {
  const Gradients honest = SomeGradients();
  Gradients other = honest;
  other[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(NoiseBetween(other, honest, 7), std::numeric_limits<double>::infinity());
  EXPECT_EQ(NoiseBetween(honest, other, 7), std::numeric_limits<double>::infinity());
}

TEST(NoiseBetween, ZeroGradientsGiveNoNoise) {
  const Gradients still(kProbeWorkers, std::vector<float>(70));
  EXPECT_EQ(NoiseBetween(still, still, 7), 0);
}

TEST(WorstNoise, TakesTheWorstPlace) {
  Gradients honest = SomeGradients();
  const Gradients small = SomeGradients(1e-3);
  honest.insert(honest.end(), small.begin(), small.end());
  Gradients other = honest;
  // Large for the small gradients, and negligible for the others.
  for (std::size_t i = 0; i < 100; ++i) other[kProbeWorkers][i] *= 1.01F;
  EXPECT_GT(WorstNoise(other, honest, 7), 1e-3);
}

CalibrationFacts Facts(double noise, double eps_g, bool from_manifest = true) {
  return {.model = "mlp on digits",
          .paths = {{"SSE", noise}, {"AVX2", noise / 2}},
          .eps_g = eps_g,
          .from_manifest = from_manifest,
          .problem = {}};
}

TEST(JudgeCalibration, StatesTheEpsGThatAManifestNeeds) {
  const Finding good = JudgeCalibration(Facts(1e-6, 1e-5));
  EXPECT_EQ(good.severity, Severity::kOk);
  EXPECT_THAT(good.text, HasSubstr("eps_g must be 1.0e-05 or more; the manifest's is 1.0e-05"));
  EXPECT_THAT(good.text, HasSubstr("SSE 1.0e-06, AVX2 5.0e-07"));
  EXPECT_EQ(good.fix, "");
  const Finding narrow = JudgeCalibration(Facts(1e-6, 5e-6));
  EXPECT_EQ(narrow.severity, Severity::kWarning);
  EXPECT_THAT(narrow.fix, HasSubstr("eps_g = 1.0e-05"));
  const Finding small = JudgeCalibration(Facts(1e-6, 1.5e-6));
  EXPECT_EQ(small.severity, Severity::kSerious);
  EXPECT_THAT(small.text, HasSubstr("an honest node on this machine would be accused"));
  EXPECT_EQ(JudgeCalibration(Facts(std::numeric_limits<double>::infinity(), 1)).severity,
            Severity::kSerious);
}

TEST(JudgeCalibration, OnlyAManifestIsCalledGenerous) {
  EXPECT_EQ(JudgeCalibration(Facts(1e-7, 1e-3)).severity, Severity::kWarning);
  const Finding defaults = JudgeCalibration(Facts(1e-7, 1e-3, false));
  EXPECT_EQ(defaults.severity, Severity::kOk);
  EXPECT_THAT(defaults.text, HasSubstr("the default is"));
}

TEST(JudgeCalibration, ExactKernelsMayNotDifferByABit) {
  CalibrationFacts facts = Facts(0, 0);
  facts.exact = true;
  const Finding equal = JudgeCalibration(facts);
  EXPECT_EQ(equal.severity, Severity::kOk);
  EXPECT_THAT(equal.text, HasSubstr("equal in every bit"));
  facts.paths[0].noise = 1e-12;
  EXPECT_EQ(JudgeCalibration(facts).severity, Severity::kSerious);
}

TEST(JudgeCalibration, ReportsWhyNothingWasMeasured) {
  CalibrationFacts facts = Facts(0, 1);
  facts.problem = "no libtorch";
  facts.from_manifest = false;
  const Finding finding = JudgeCalibration(facts);
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("no libtorch"));
  facts.from_manifest = true;
  EXPECT_EQ(JudgeCalibration(facts).severity, Severity::kSerious) << "it was asked of this run";
}

}  // namespace
}  // namespace ostraka::cli::calibration_test
