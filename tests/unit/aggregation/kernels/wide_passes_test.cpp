#include "aggregation/kernels/wide_passes.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::wide_passes_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

// On tame rows the passes in double are right to 1e-13, so both must agree.
TEST(WidePasses, AgreeWithThePassesInDouble) {
  base::Rng rng(1);
  for (const std::size_t d : {1u, 257u, 9001u}) {
    const Matrix matrix = testing::NormalRows(rng, 5, d);
    const Rows rows = RowsOf(matrix);
    const SerialExecutor executor;
    const Passes narrow(rows, executor, simd::BestKernels());
    const WidePasses wide(rows, executor);
    const std::vector<double> weights = {1, 0.5, 0.25, 0.125, 1};
    const std::vector<Wide> wide_weights(weights.begin(), weights.end());

    const auto gram = narrow.Gram(matrix[2].data());
    const auto wide_gram = wide.Gram(matrix[2].data());
    ASSERT_EQ(gram.size(), wide_gram.size());
    for (std::size_t i = 0; i < gram.size(); ++i) {
      EXPECT_NEAR(wide_gram[i].high, gram[i], 1e-12 * static_cast<double>(d));
    }
    std::vector<float> out(d), wide_out(d);
    const auto found = narrow.CombineAndMeasure(matrix[0].data(), weights, weights, out.data());
    const auto wide_found =
        wide.CombineAndMeasure(matrix[0].data(), wide_weights, wide_weights, wide_out.data());
    EXPECT_TRUE(testing::SameBits(out, wide_out));
    EXPECT_NEAR(wide_found.squared_residual.high, found.squared_residual,
                1e-12 * found.squared_residual);
    EXPECT_NEAR(wide_found.squared_center.high, found.squared_center, 1e-12 * found.squared_center);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(wide_found.squared_distances[i].high, found.squared_distances[i],
                  1e-12 * found.squared_distances[i]);
    }
  }
}

TEST(WidePasses, KeepTheRemainderWhenHugeRowsCancel) {
  const Matrix matrix = {{1e30f, 2.0f}, {-1e30f, 2.0f}, {1.0f, 2.0f}};
  const Rows rows = RowsOf(matrix);
  const SerialExecutor executor;
  const std::vector<float> center = {0.25f, 2.0f};
  const std::vector<Wide> ones(3, Wide(1.0));
  const auto found = WidePasses(rows, executor).Measure(center.data(), ones);
  EXPECT_EQ(Sqrt(found.squared_residual).high, 0.25);  // 1 - 3 / 4
}

TEST(WidePasses, ThreadsChangeNoBit) {
  base::Rng rng(2);
  const Matrix matrix = testing::NormalRows(rng, 4, 20'000);
  const Rows rows = RowsOf(matrix);
  const SerialExecutor serial;
  const testing::ThreadedExecutor threads(3);
  const auto a = WidePasses(rows, serial).Gram(matrix[0].data());
  const auto b = WidePasses(rows, threads).Gram(matrix[0].data());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].high, b[i].high);
    EXPECT_EQ(a[i].low, b[i].low);
  }
}

}  // namespace
}  // namespace ostraka::aggregation::wide_passes_test
