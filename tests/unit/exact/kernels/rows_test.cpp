// Row kernels against their definitions, written out.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/unit/exact/testing.h"

namespace ostraka::exact::rows_test {
namespace {

using testing::NormalValues;
using testing::SupportedLevels;

using Values = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float Fold(std::array<float, 16> lane) {
  for (const std::size_t width : {8, 4, 2, 1}) {
    for (std::size_t i = 0; i < width; ++i) lane[i] = lane[i] + lane[i + width];
  }
  return lane[0];
}

TEST(Rows, SumsRunInThePromisedOrder) {
  base::Rng rng(1);
  for (std::size_t count = 1; count < 200; count += 3) {
    const Values x = NormalValues(rng, count);
    const Values y = NormalValues(rng, count);
    std::array<float, 16> sums{};
    std::array<float, 16> dots{};
    for (std::size_t i = 0; i < (count + 15) / 16 * 16; ++i) {
      const float a = i < count ? x[i] : 0;
      const float b = i < count ? y[i] : 0;
      sums[i % 16] = sums[i % 16] + a;
      dots[i % 16] = std::fma(a, b, dots[i % 16]);
    }
    for (const Level level : SupportedLevels()) {
      EXPECT_EQ(KernelsFor(level).sum(x.data(), count), Fold(sums)) << LevelName(level);
      EXPECT_EQ(KernelsFor(level).dot(x.data(), y.data(), count), Fold(dots)) << LevelName(level);
    }
  }
}

TEST(Rows, SumsOfRowsAddAscending) {
  base::Rng rng(2);
  const Values x = NormalValues(rng, 9 * 70);
  Values expected(70);
  for (std::size_t r = 0; r < 9; ++r) {
    for (std::size_t c = 0; c < 70; ++c) expected[c] = expected[c] + x[r * 70 + c];
  }
  for (const Level level : SupportedLevels()) {
    Values out(70);
    KernelsFor(level).sum_rows(x.data(), 9, 70, 70, out.data());
    EXPECT_EQ(out, expected) << LevelName(level);
  }
}

TEST(Rows, SoftmaxIsADistributionOverWhatIsVisible) {
  base::Rng rng(3);
  const Values x = NormalValues(rng, 50, 4);
  Values y(50, -1);
  BestKernels().softmax(x.data(), 33, 50, y.data());
  double total = 0;
  for (std::size_t i = 0; i < 33; ++i) total += std::exp(double{x[i]});
  for (std::size_t i = 0; i < 33; ++i) EXPECT_NEAR(y[i], std::exp(double{x[i]}) / total, 2e-7);
  for (std::size_t i = 33; i < 50; ++i) EXPECT_EQ(y[i], 0);
}

TEST(Rows, SoftmaxOfMaskedRowsIsZero) {
  Values y(4, 9);
  BestKernels().softmax(Values(4, 1).data(), 0, 4, y.data());
  EXPECT_EQ(y, Values(4, 0));
  BestKernels().softmax(Values(4, -kInfinity).data(), 4, 4, y.data());
  EXPECT_EQ(y, Values(4, 0));
  const Values one = {-kInfinity, 3, -kInfinity, -kInfinity};
  BestKernels().softmax(one.data(), 4, 4, y.data());
  EXPECT_EQ(y, (Values{0, 1, 0, 0}));
  const Values nan = {-kInfinity, kCanonicalNan, -kInfinity, -kInfinity};
  BestKernels().softmax(nan.data(), 4, 4, y.data());
  for (const float value : y) EXPECT_TRUE(std::isnan(value));
}

TEST(Rows, CrossEntropyIsMinusTheLogarithmOfSoftmax) {
  base::Rng rng(4);
  const Values x = NormalValues(rng, 65, 3);
  Values y(65);
  BestKernels().softmax(x.data(), 65, 65, y.data());
  for (std::size_t target = 0; target < 65; target += 8) {
    EXPECT_NEAR(BestKernels().cross_entropy(x.data(), 65, target), -std::log(double{y[target]}),
                1e-5);
    Values g(65);
    BestKernels().cross_entropy_backward(x.data(), 65, target, 0.5F, g.data());
    for (std::size_t i = 0; i < 65; ++i) {
      EXPECT_EQ(g[i], (y[i] - (i == target ? 1.0F : 0.0F)) * 0.5F) << i;
    }
  }
}

TEST(Rows, SoftmaxBackwardIsTheJacobian) {
  base::Rng rng(5);
  const Values x = NormalValues(rng, 20);
  const Values g = NormalValues(rng, 20);
  Values y(20);
  Values out(20);
  BestKernels().softmax(x.data(), 20, 20, y.data());
  BestKernels().softmax_backward(g.data(), y.data(), 20, out.data());
  double mean = 0;
  for (std::size_t i = 0; i < 20; ++i) mean += double{g[i]} * y[i];
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(out[i], y[i] * (g[i] - mean), 1e-6);
}

// Loss sum_i g_i y_i of a normalized row, in double.
double NormLoss(const std::vector<double>& x, const Values& w, const Values& b, const Values& g,
                bool centered) {
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  for (const double value : x) mean += centered ? value / n : 0;
  double variance = 1e-5;
  for (const double value : x) variance += (value - mean) * (value - mean) / n;
  double loss = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    loss += g[i] * ((x[i] - mean) / std::sqrt(variance) * w[i] + (centered ? b[i] : 0));
  }
  return loss;
}

class NormOf : public ::testing::TestWithParam<bool> {};

TEST_P(NormOf, GradientIsTheSlopeOfTheLoss) {
  const bool centered = GetParam();
  const Kernels& kernels = BestKernels();
  base::Rng rng(6);
  const std::size_t n = 37;
  const Values x = NormalValues(rng, n, 2);
  const Values w = NormalValues(rng, n);
  const Values b = NormalValues(rng, n);
  const Values g = NormalValues(rng, n);
  Values y(n);
  Values dx(n);
  NormRow row = {x.data(), w.data(), b.data(), n, 1e-5F, y.data()};
  const RowStatistics statistics = centered ? kernels.layer_norm(row) : kernels.rms_norm(row);
  row.out = dx.data();
  (centered ? kernels.layer_norm_backward : kernels.rms_norm_backward)(row, g.data(), statistics);
  const std::vector<double> at(x.begin(), x.end());
  double loss = 0;
  for (std::size_t i = 0; i < n; ++i) loss += double{g[i]} * y[i];
  EXPECT_NEAR(loss, NormLoss(at, w, b, g, centered), 1e-4);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> above = at;
    std::vector<double> below = at;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    const double slope =
        (NormLoss(above, w, b, g, centered) - NormLoss(below, w, b, g, centered)) / 2e-5;
    EXPECT_NEAR(dx[i], slope, 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, NormOf, ::testing::Values(true, false));

TEST(Rows, NormColumnsAddRowsAscending) {
  base::Rng rng(7);
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kWidth = 21;
  const Values g = NormalValues(rng, kRows * kWidth);
  const Values x = NormalValues(rng, kRows * kWidth);
  const Values statistics = NormalValues(rng, 2 * kRows);
  Values weight(kWidth);
  Values bias(kWidth);
  BestKernels().norm_columns({g.data(), x.data(), statistics.data(), kRows, kWidth, 0, kWidth,
                              weight.data(), bias.data()});
  for (std::size_t c = 0; c < kWidth; ++c) {
    float w = 0;
    float b = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      const float h = (x[r * kWidth + c] - statistics[2 * r]) * statistics[2 * r + 1];
      w = std::fma(g[r * kWidth + c], h, w);
      b = b + g[r * kWidth + c];
    }
    EXPECT_EQ(weight[c], w);
    EXPECT_EQ(bias[c], b);
  }
}

}  // namespace
}  // namespace ostraka::exact::rows_test
