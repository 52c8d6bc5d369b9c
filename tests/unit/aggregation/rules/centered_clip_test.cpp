#include "aggregation/rules/centered_clip.h"

#include <gtest/gtest.h>

#include "aggregation/kernels/wide_passes.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::centered_clip_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

struct Outcome {
  std::vector<float> out;
  CenteredClipReport report;
};

// Aggregates, and checks the result against the promise of centered_clip.h in long double.
Outcome Clip(const Matrix& matrix, double tau, double eps = 1e-6) {
  Outcome outcome;
  outcome.out.resize(matrix[0].size());
  const auto report =
      CenteredClip({tau, eps}).AggregateWithReport(RowsOf(matrix), SerialExecutor(), outcome.out);
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return outcome;
  outcome.report = *report;
  const auto n = static_cast<long double>(matrix.size());
  const long double bound = n * (eps + 0x1p-23L * testing::SlowNorm(outcome.out));
  const long double residual = testing::SlowResidual(matrix, outcome.out, tau);
  EXPECT_LE(residual, bound);
  EXPECT_LE(residual, report->residual * (1 + 1e-12));
  EXPECT_NEAR(report->residual_bound, static_cast<double>(bound), 1e-12 * report->residual_bound);
  return outcome;
}

TEST(CenteredClip, OneRowIsTheAnswer) {
  const Matrix rows = {{1.5f, -2.0f, 1e30f, -3e-40f}};
  EXPECT_EQ(Clip(rows, 0.1).out, rows[0]);
}

TEST(CenteredClip, EqualRowsAreTheAnswer) {
  const Matrix rows(5, std::vector<float>{1.0f, -3e38f, 1e-45f});
  EXPECT_EQ(Clip(rows, 1e-3).out, rows[0]);
}

TEST(CenteredClip, OfTwoRowsAnyPointBetweenOrTheMiddle) {
  EXPECT_EQ(Clip({{0.0f, 2.0f}, {4.0f, 2.0f}}, 100).out, (std::vector<float>{2.0f, 2.0f}));
  const Outcome far = Clip({{0.0f, 2.0f}, {4.0f, 2.0f}}, 0.5);  // flat between: any point will do
  EXPECT_GE(far.out[0], 0.0f);
  EXPECT_LE(far.out[0], 4.0f);
  EXPECT_EQ(far.out[1], 2.0f);
}

TEST(CenteredClip, WithoutClippingItIsTheMean) {
  base::Rng rng(1);
  const Matrix rows = testing::NormalRows(rng, 8, 300);
  const Outcome outcome = Clip(rows, 1e6);
  for (std::size_t c = 0; c < 300; ++c) {
    long double sum = 0;
    for (const auto& row : rows) sum += row[c];
    EXPECT_NEAR(outcome.out[c], static_cast<double>(sum / 8), 1e-7);
  }
}

TEST(CenteredClip, MatchesPlainIterationToConvergence) {
  base::Rng rng(2);
  for (const double tau : {0.5, 3.0, 20.0}) {
    Matrix rows = testing::NormalRows(rng, 16, 100);
    for (std::size_t i = 0; i < 7; ++i) testing::Multiply(rows[i], -1000);  // 7 of 16 attack
    const Outcome outcome = Clip(rows, tau);
    const auto slow = testing::SlowCenteredClip(rows, tau, 1e-9, 200'000);
    ASSERT_LT(slow.iterations, 200'000u);
    double squared = 0;
    for (std::size_t c = 0; c < 100; ++c) {
      squared += (outcome.out[c] - slow.center[c]) * (outcome.out[c] - slow.center[c]);
    }
    // The curvature of f is at least that of the honest rows; 1e-5 leaves it a factor of ten.
    EXPECT_LT(std::sqrt(squared), 1e-5 * (1 + 1 / tau)) << tau;
    EXPECT_LE(outcome.report.iterations, 60u);
  }
}

// tau = 2^-10 against a spread of 1: nearly the geometric median. Plain iteration crawls.
TEST(CenteredClip, SettlesWherePlainIterationNeedsTensOfThousandsOfSteps) {
  base::Rng rng(3);
  const Matrix rows = testing::NormalRows(rng, 9, 3);
  constexpr double kTau = 0x1p-10;
  constexpr double kEps = 1e-9;
  const auto slow = testing::SlowCenteredClip(rows, kTau, 9 * kEps, 10'000);
  EXPECT_EQ(slow.iterations, 10'000u) << "no longer a slow case";
  const Outcome outcome = Clip(rows, kTau, kEps);
  EXPECT_LE(outcome.report.iterations, 100u);
}

TEST(CenteredClip, AMedianRowWithinTauOfTheAnswer) {
  // The geometric median is row 0 itself: the other four pull with no net force.
  const Matrix rows = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  for (const double tau : {0x1p-20, 0x1p-10, 0.5}) {
    const Outcome outcome = Clip(rows, tau, 1e-12);
    EXPECT_EQ(outcome.out[0], 0.0f);
    EXPECT_EQ(outcome.out[1], 0.0f);
  }
}

TEST(CenteredClip, OneHugeRowMovesTheAnswerByTauAtMost) {
  base::Rng rng(4);
  for (int exponent = 0; exponent <= 37; ++exponent) {
    Matrix rows = testing::NormalRows(rng, 10, 50);
    for (float& value : rows[3]) value = static_cast<float>(testing::PowerOfTen(exponent));
    Matrix honest = rows;
    honest.erase(honest.begin() + 3);
    const Outcome with = Clip(rows, 2.0);
    const Outcome without = Clip(honest, 2.0);
    EXPECT_LT(testing::SlowDistance(with.out, without.out), 20.0L) << exponent;
  }
}

// The first center is chosen on a sample of coordinates, where an attacker can look honest. That
// may cost centrings, but never the bound.
TEST(CenteredClip, RowsThatHideFromTheSampleCannotBreakTheBound) {
  base::Rng rng(5);
  Matrix rows = testing::NormalRows(rng, 9, 100'000);
  for (std::size_t i = 0; i < 4; ++i) {
    rows[i] = rows[4];            // four copies of an honest row: the majority's center,
    rows[i][80'000 + i] = 1e30f;  // and far away outside the sample
  }
  rows[4][70'000] = -1e25f;
  const Outcome outcome = Clip(rows, 50.0);
  EXPECT_LE(outcome.report.centrings, 4u);
}

// The bound alone would pass any result that is large enough. The first center looks like all other
// rows in the sample; beside its one huge coordinate double loses the rest.
TEST(CenteredClip, AHugeCoordinateOutsideTheSampleDoesNotStayInTheAnswer) {
  base::Rng rng(11);
  for (const float huge : {1e14f, 1e30f, -3e38f}) {
    Matrix rows = testing::NormalRows(rng, 4, 5000);
    std::vector<float> hidden(5000);
    for (std::size_t c = 0; c < hidden.size(); ++c) {
      for (const auto& row : rows) hidden[c] += row[c] / 4;
    }
    hidden[100] = huge;  // the sample has 0..63, 312..375 and so on
    for (int i = 0; i < 3; ++i) rows.push_back(hidden);
    EXPECT_LT(testing::SlowNorm(Clip(rows, 1.0).out), 200) << huge;
  }
}

TEST(CenteredClip, HoldsItsBoundOnHostileRows) {
  base::Rng rng(6);
  for (const testing::Family family : testing::kAllFamilies) {
    for (int trial = 0; trial < 150; ++trial) {
      const std::size_t n = 1 + rng.Below(14);
      const std::size_t d = 1 + rng.Below(rng.Chance(1, 5) ? 1500 : 8);
      const Matrix rows = testing::HostileRows(rng, family, n, d);
      const double tau = testing::PowerOfTen(static_cast<int>(rng.Between(-5, 4)));
      const double eps = testing::PowerOfTen(static_cast<int>(rng.Between(-9, -5)));
      const Outcome outcome = Clip(rows, tau, eps);
      ASSERT_FALSE(HasFailure()) << "family " << static_cast<int>(family) << " trial " << trial
                                 << " n " << n << " d " << d << " tau " << tau << " eps " << eps;
      // If the bound is weak it looks for a better answer, at most twice as often.
      const bool telling = outcome.report.residual_bound <= tau / 4;
      EXPECT_LE(outcome.report.centrings, telling ? 4u : 12u);
    }
  }
}

// Rows of pull 1e13 and more cancel, and what remains must be right to 1e-6: more than double can
// hold.
TEST(CenteredClip, HugePullsThatCancelAreSummedInWide) {
  const Matrix rows = {{1e21f, 1.0f}, {-1e21f, 1.0f}, {0.5f, 2.0f}, {0.25f, 4.0f}, {0.125f, -8.0f}};
  const SerialExecutor executor;
  const Rows view = RowsOf(rows);
  for (const double tau : {1e13, 1e17, 1e26}) {
    std::vector<float> out(2);
    const auto report = CenteredClip({tau, 1e-6}).AggregateWithReport(view, executor, out);
    ASSERT_TRUE(report.ok()) << tau;
    EXPECT_LE(report->residual, report->residual_bound);
    // The first coordinate by hand: the huge rows pull +-tau (or cancel), the others sum to 0.
    const std::vector<Wide> weights = [&] {
      std::vector<Wide> result;
      for (const Wide& squared :
           WidePasses(view, executor).Measure(out.data(), std::vector<Wide>(5)).squared_distances) {
        const Wide distance = Sqrt(squared);
        result.push_back(distance <= Wide(tau) ? Wide(1.0) : Wide(tau) / distance);
      }
      return result;
    }();
    const auto measured = WidePasses(view, executor).Measure(out.data(), weights);
    EXPECT_LE(Sqrt(measured.squared_residual).high, report->residual_bound) << tau;
    if (tau > 1e25) {
      EXPECT_NEAR(out[0], 0.875 / 5, 1e-6);  // nothing is clipped: the mean
      EXPECT_NEAR(out[1], 0.0, 1e-6);
    } else {
      EXPECT_NEAR(out[0], 0.875 / 3, 1e-6);  // the mean of the three rows that are not clipped
    }
  }
}

// Beyond about 2^95 between pull and bound even Wide is too coarse, and the report says so.
TEST(CenteredClip, ReportsWhenNoArithmeticHereIsPreciseEnough) {
  const Matrix rows = {{1e38f}, {-1e38f}, {1e-3f}};
  std::vector<float> out(1);
  EXPECT_EQ(CenteredClip({1e37, 1e-9}).Aggregate(RowsOf(rows), SerialExecutor(), out).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(CenteredClip({1e3, 1e-9}).Aggregate(RowsOf(rows), SerialExecutor(), out).ok());
}

TEST(CenteredClip, IsAMinimumOfTheHuberSum) {
  base::Rng rng(7);
  for (int trial = 0; trial < 40; ++trial) {
    const Matrix rows = testing::NormalRows(rng, 2 + rng.Below(8), 1 + rng.Below(6));
    const double tau = testing::PowerOfTen(static_cast<int>(rng.Between(-2, 1)));
    const std::vector<float> best = Clip(rows, tau).out;
    const long double at_best = testing::SlowObjective(rows, best, tau);
    for (int probe = 0; probe < 50; ++probe) {
      std::vector<float> other = best;
      const double reach = testing::PowerOfTen(static_cast<int>(rng.Between(-4, 1)));
      for (float& value : other) value += static_cast<float>(reach * rng.Normal());
      // By convexity f(other) >= f(best) - residual * distance.
      const long double slack =
          testing::SlowResidual(rows, best, tau) * testing::SlowDistance(other, best);
      EXPECT_GE(testing::SlowObjective(rows, other, tau), at_best - slack - 1e-12L);
    }
  }
}

TEST(CenteredClip, NeitherLevelsNorThreadsChangeABit) {
  base::Rng rng(8);
  for (const testing::Family family : testing::kAllFamilies) {
    const Matrix rows = testing::HostileRows(rng, family, 11, 30'011);
    std::vector<float> expected(rows[0].size());
    ASSERT_TRUE(CenteredClip({1.0, 1e-6}, simd::KernelsFor(simd::Level::kScalar))
                    .Aggregate(RowsOf(rows), SerialExecutor(), expected)
                    .ok());
    for (const simd::Level level : testing::SupportedLevels()) {
      for (const int threads : {1, 4}) {
        std::vector<float> out(expected.size());
        ASSERT_TRUE(CenteredClip({1.0, 1e-6}, simd::KernelsFor(level))
                        .Aggregate(RowsOf(rows), testing::ThreadedExecutor(threads), out)
                        .ok());
        EXPECT_TRUE(testing::SameBits(out, expected)) << simd::LevelName(level) << threads;
      }
    }
  }
}

// Equal bits from every compiler and machine. A change of this number forks every run that mixes
// old and new binaries, and must raise the protocol's version.
TEST(CenteredClip, BitsAreFrozen) {
  base::Rng rng(9);
  Matrix rows = testing::NormalRows(rng, 16, 5000);
  for (std::size_t i = 0; i < 5; ++i) testing::Multiply(rows[i], -100);
  EXPECT_EQ(testing::BitsDigest(Clip(rows, 10.0).out), 17959090553954784184u);
}

TEST(CenteredClip, RefusesNonFiniteRowsByName) {
  Matrix rows(4, std::vector<float>(5000, 1.0f));
  std::vector<float> out(5000);
  const CenteredClip rule({1.0, 1e-6});
  for (const std::size_t row : {0u, 3u}) {
    for (const std::size_t coordinate : {0u, 2500u, 4999u}) {
      Matrix bad = rows;
      bad[row][coordinate] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(
          base::MessageOf(rule.Aggregate(RowsOf(bad), SerialExecutor(), out)),
          "row " + std::to_string(row) + ", coordinate " + std::to_string(coordinate) + " is NaN");
      bad[row][coordinate] = -std::numeric_limits<float>::infinity();
      EXPECT_EQ(rule.Aggregate(RowsOf(bad), SerialExecutor(), out).code(),
                absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(CenteredClip, RefusesMeaninglessOptions) {
  const Matrix rows = {{1.0f}, {2.0f}};
  std::vector<float> out(1);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const CenteredClipOptions options :
       {CenteredClipOptions{0, 1e-6}, CenteredClipOptions{-1, 1e-6},
        CenteredClipOptions{infinity, 1e-6}, CenteredClipOptions{std::nan(""), 1e-6},
        CenteredClipOptions{1, 0}, CenteredClipOptions{1, infinity},
        CenteredClipOptions{1, std::nan("")}}) {
    EXPECT_EQ(CenteredClip(options).Aggregate(RowsOf(rows), SerialExecutor(), out).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(CenteredClip({1, 1e-6}).Aggregate({{}, 1}, SerialExecutor(), out).ok());
}

}  // namespace
}  // namespace ostraka::aggregation::centered_clip_test
