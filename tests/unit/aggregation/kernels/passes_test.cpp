#include "aggregation/kernels/passes.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::passes_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

constexpr std::size_t kDimensions[] = {1, 2, 255, 256, 257, 2048, 2049, 150'001};

TEST(Passes, GramMatchesInnerProductsOfDifferences) {
  base::Rng rng(1);
  for (const std::size_t d : kDimensions) {
    const Matrix matrix = testing::NormalRows(rng, 5, d);
    const std::vector<float>& center = matrix[3];
    const SerialExecutor executor;
    const Rows rows = RowsOf(matrix);
    const auto gram = Passes(rows, executor, simd::BestKernels()).Gram(center.data());
    ASSERT_EQ(gram.size(), 15u);
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        long double inner = 0;
        for (std::size_t c = 0; c < d; ++c) {
          inner += (static_cast<long double>(matrix[i][c]) - center[c]) *
                   (static_cast<long double>(matrix[j][c]) - center[c]);
        }
        EXPECT_NEAR(gram[simd::TriangleIndex(i, j)], static_cast<double>(inner),
                    1e-13 * static_cast<double>(d + 10));
      }
    }
  }
}

TEST(Passes, CombineAndMeasureMatchTheirDefinitions) {
  base::Rng rng(2);
  for (const std::size_t d : kDimensions) {
    const Matrix matrix = testing::NormalRows(rng, 4, d);
    const Rows rows = RowsOf(matrix);
    const SerialExecutor executor;
    const std::vector<double> coefficients = {0.5, -0.25, 0.125, 0.625};
    const std::vector<double> weights = {1, 0.5, 0.25, 1};
    std::vector<float> out(d);
    const Measurement<double> found =
        Passes(rows, executor, simd::BestKernels())
            .CombineAndMeasure(matrix[0].data(), coefficients, weights, out.data());
    std::vector<long double> residual(d, 0.0L);
    for (std::size_t c = 0; c < d; ++c) {
      long double expected = matrix[0][c];
      for (std::size_t i = 0; i < 4; ++i) {
        expected += coefficients[i] * (static_cast<long double>(matrix[i][c]) - matrix[0][c]);
        residual[c] += weights[i] * (static_cast<long double>(matrix[i][c]) - out[c]);
      }
      ASSERT_FLOAT_EQ(out[c], static_cast<float>(expected));
    }
    EXPECT_NEAR(std::sqrt(found.squared_residual), static_cast<double>(testing::SlowNorm(residual)),
                1e-11);
    EXPECT_NEAR(std::sqrt(found.squared_center), static_cast<double>(testing::SlowNorm(out)),
                1e-11);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(std::sqrt(found.squared_distances[i]),
                  static_cast<double>(testing::SlowDistance(matrix[i], out)), 1e-11);
    }
  }
}

TEST(Passes, NeitherThreadsNorLevelsChangeABit) {
  base::Rng rng(3);
  const Matrix matrix = testing::NormalRows(rng, 6, 70'003);
  const Rows rows = RowsOf(matrix);
  const std::vector<double> weights(6, 0.3);
  const SerialExecutor serial;
  const Passes reference(rows, serial, simd::KernelsFor(simd::Level::kScalar));
  const auto gram = reference.Gram(matrix[1].data());
  const Measurement<double> measured = reference.Measure(matrix[2].data(), weights);
  for (const simd::Level level : testing::SupportedLevels()) {
    for (const int threads : {1, 2, 5}) {
      const testing::ThreadedExecutor executor(threads);
      const Passes passes(rows, executor, simd::KernelsFor(level));
      EXPECT_EQ(passes.Gram(matrix[1].data()), gram) << simd::LevelName(level) << threads;
      const Measurement<double> found = passes.Measure(matrix[2].data(), weights);
      EXPECT_EQ(found.squared_distances, measured.squared_distances);
      EXPECT_EQ(found.squared_residual, measured.squared_residual);
      EXPECT_EQ(found.squared_center, measured.squared_center);
    }
  }
}

TEST(Passes, NonFiniteValuesAppearInTheDiagonalAndLargestFloatsDoNot) {
  const float largest = std::numeric_limits<float>::max();
  Matrix matrix(3, std::vector<float>(3000, largest));
  for (float& value : matrix[2]) value = -largest;
  const Rows rows = RowsOf(matrix);
  const SerialExecutor executor;
  const Passes passes(rows, executor, simd::BestKernels());
  for (const double value : passes.Gram(matrix[0].data())) EXPECT_TRUE(std::isfinite(value));
  matrix[1][2999] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(passes.Gram(matrix[0].data())[simd::TriangleIndex(1, 1)]));
  matrix[1][2999] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(passes.Gram(matrix[0].data())[simd::TriangleIndex(1, 1)]));
}

}  // namespace
}  // namespace ostraka::aggregation::passes_test
