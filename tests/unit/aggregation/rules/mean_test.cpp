#include "aggregation/rules/mean.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::mean_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

std::vector<float> MeanOf(const Matrix& matrix) {
  std::vector<float> out(matrix[0].size());
  EXPECT_TRUE(Mean().Aggregate(RowsOf(matrix), SerialExecutor(), out).ok());
  return out;
}

TEST(Mean, IsTheSumInRowOrderOverTheCount) {
  base::Rng rng(3);
  const Matrix rows = testing::NormalRows(rng, 7, 5003);
  const std::vector<float> mean = MeanOf(rows);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    double sum = 0;
    for (const auto& row : rows) sum += static_cast<double>(row[c]);
    ASSERT_EQ(mean[c], static_cast<float>(sum / 7.0)) << c;
  }
}

TEST(Mean, DoesNotOverflowWhereFloatWould) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(MeanOf({{largest}, {largest}, {largest}})[0], largest);
  EXPECT_EQ(MeanOf({{largest}, {-largest}})[0], 0.0f);
}

TEST(Mean, NeverGivesMinusZero) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  for (const Matrix& rows : {Matrix{{-0.0f}, {-0.0f}}, Matrix{{-denormal}, {0.0f}, {0.0f}}}) {
    const float mean = MeanOf(rows)[0];
    EXPECT_EQ(mean, 0.0f);
    EXPECT_FALSE(std::signbit(mean));
  }
}

TEST(Mean, NamesANonFiniteValue) {
  Matrix rows(3, std::vector<float>(700, 1.0f));
  rows[0][600] = std::numeric_limits<float>::infinity();
  rows[1][600] = -std::numeric_limits<float>::infinity();  // the two must not cancel
  std::vector<float> out(700);
  EXPECT_EQ(base::MessageOf(Mean().Aggregate(RowsOf(rows), SerialExecutor(), out)),
            "row 0, coordinate 600 is infinite");
  EXPECT_FALSE(Mean().Aggregate({{}, 700}, SerialExecutor(), out).ok());
}

TEST(Mean, IsTheSameForAnyLevelAndExecutor) {
  base::Rng rng(5);
  const Matrix rows = testing::NormalRows(rng, 6, 50'001);
  const std::vector<float> expected = MeanOf(rows);
  for (const simd::Level level : testing::SupportedLevels()) {
    std::vector<float> out(expected.size());
    ASSERT_TRUE(Mean(simd::KernelsFor(level))
                    .Aggregate(RowsOf(rows), testing::ThreadedExecutor(4), out)
                    .ok());
    EXPECT_TRUE(testing::SameBits(out, expected)) << simd::LevelName(level);
  }
}

}  // namespace
}  // namespace ostraka::aggregation::mean_test
