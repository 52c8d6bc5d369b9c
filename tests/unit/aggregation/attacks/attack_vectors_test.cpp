#include "aggregation/attacks/attack_vectors.h"

#include <gtest/gtest.h>

#include <bit>

#include "aggregation/kernels/normal_quantile.h"
#include "aggregation/kernels/projection.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attack_vectors_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

TEST(AttackVectors, SaturateCutsToTheLargestFloat) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(SignFlip(std::vector<float>{largest, -largest}, 1000),
            (std::vector<float>{-largest, largest}));
  EXPECT_EQ(Saturate(-std::numeric_limits<double>::infinity()), -largest);
}

TEST(AttackVectors, ColludersShareOneDirectionForEachTensor) {
  base::Rng rng(4);
  const base::TensorLayout layout = {{"weight", {10, 7}}, {"bias", {30}}};
  const Matrix own = testing::NormalRows(rng, 2, 100);
  const std::vector<float> first = RandomDirection(own[0], layout, 1000, 9);
  const std::vector<float> second = RandomDirection(own[1], layout, 1000, 9);
  const std::vector<float> other = RandomDirection(own[0], layout, 1000, 10);
  for (const auto& [offset, length] : {std::pair{0u, 70u}, std::pair{70u, 30u}}) {
    const auto of = [&, begin = offset, size = length](const std::vector<float>& v) {
      return std::span<const float>(v).subspan(begin, size);
    };
    const auto cosine = [&](const std::vector<float>& a, const std::vector<float>& b) {
      double inner = 0;
      for (std::size_t i = 0; i < of(a).size(); ++i) inner += double{of(a)[i]} * double{of(b)[i]};
      return inner / (Norm(of(a)) * Norm(of(b)));
    };
    EXPECT_NEAR(Norm(of(first)), 1000 * Norm(of(own[0])), 1e-4 * Norm(of(first)));
    EXPECT_NEAR(cosine(first, second), 1, 1e-6);
    EXPECT_LT(std::abs(cosine(first, other)), 0.6);
    EXPECT_LT(std::abs(cosine(first, own[0])), 0.6);
  }
}

TEST(AttackVectors, RandomDirectionOfAZeroTensorIsZero) {
  const std::vector<float> own = {0.0f, 0.0f, 1.0f};
  const auto sent = RandomDirection(own, {{"a", {2}}, {"empty", {0}}, {"b", {}}}, 10, 3);
  EXPECT_EQ(sent[0], 0.0f);
  EXPECT_EQ(sent[1], 0.0f);
  EXPECT_FLOAT_EQ(std::abs(sent[2]), 10.0f);
}

TEST(AttackVectors, AlieZMatchesPublishedValues) {
  struct Row {
    std::size_t n, m;
    double z;
  };
  // From the formula of the paper; (16, 7) is BTARD's setting.
  for (const Row& row :
       {Row{10, 2, 0}, Row{11, 2, .139710299}, Row{12, 3, .139710299}, Row{20, 4, .157310685},
        Row{20, 8, .674489750}, Row{50, 12, .336038140}, Row{60, 12, .264146977},
        Row{100, 20, .285840875}, Row{16, 7, .764709674}}) {
    EXPECT_NEAR(AlieZ(row.n, row.m), row.z, 1e-9) << row.n << " " << row.m;
  }
  // A Byzantine majority needs no honest row; the formula would give infinity.
  EXPECT_EQ(AlieZ(16, 9), NormalQuantile(1 - 0.5 / 7));
  EXPECT_EQ(AlieZ(16, 12), NormalQuantile(1 - 0.5 / 4));
  EXPECT_EQ(AlieZ(2, 1), 0);
}

TEST(AttackVectors, AlieStaysZDeviationsBelowTheMean) {
  const Matrix honest = {{1, 10}, {3, 10}, {5, 10}, {7, 10}};
  const std::vector<float> sent = Alie(RowsOf(honest), 2);
  EXPECT_FLOAT_EQ(sent[0], static_cast<float>(4 - 2 * std::sqrt(5.0)));
  EXPECT_EQ(sent[1], 10.0f);
}

TEST(AttackVectors, MomentsUseTheGivenDivisor) {
  const Matrix honest = {{1, 10}, {3, 10}, {5, 10}, {7, 10}};
  EXPECT_EQ(MomentsOf(RowsOf(honest)).mean, (std::vector<double>{4, 10}));
  EXPECT_DOUBLE_EQ(MomentsOf(RowsOf(honest)).deviation[0], std::sqrt(5.0));
  EXPECT_DOUBLE_EQ(MomentsOf(RowsOf(honest), 1).deviation[0], std::sqrt(20.0 / 3));
  EXPECT_EQ(MomentsOf(RowsOf({{1, 2}}), 1).deviation, (std::vector<double>{0, 0}));
}

TEST(AttackVectors, NoiseHasTheGivenMoments) {
  const std::vector<float> center(20000, 100.0f);
  for (const std::vector<float>& sent :
       {GaussianAround(center, center.size(), 3, 2, base::Rng(1)),
        Uniform(20000, 103 - 2 * std::sqrt(3.0), 103 + 2 * std::sqrt(3.0), base::Rng(1))}) {
    double sum = 0;
    double squares = 0;
    for (const float value : sent) {
      sum += value - 103.0;
      squares += (value - 103.0) * (value - 103.0);
    }
    EXPECT_NEAR(sum / 20000, 0, 0.06);  // 4 standard errors
    EXPECT_NEAR(squares / 20000, 4, 0.16);
  }
}

TEST(AttackVectors, FlipsFourBitsAndStaysFinite) {
  const std::vector<float> own = {1.0f, 0.0f, 1e-30f, -2.5f, 3.0f};
  const std::vector<float> sent = FlipBits(own, 4, 0);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_TRUE(std::isfinite(sent[c]));
    EXPECT_NE(std::signbit(sent[c]), std::signbit(own[c]));
  }
  EXPECT_EQ(std::bit_cast<std::uint32_t>(sent[2]),
            std::bit_cast<std::uint32_t>(own[2]) ^ 0xe0200000U);
  EXPECT_EQ(sent[4], 3.0f) << "beyond the first four";
}

TEST(AttackVectors, FlipsOneBitAlone) {
  const std::vector<float> own = {1.0f, -2.5f};
  EXPECT_EQ(FlipBits(own, 1, 1), (std::vector<float>{0x1.000002p0f, -2.5f}));
  EXPECT_EQ(FlipBits(own, 2, 32), (std::vector<float>{-1.0f, 2.5f}));
}

TEST(AttackVectors, SignHistogramKeepsCountsNotPositions) {
  std::vector<double> mean(300, 1.0);
  std::fill(mean.begin() + 200, mean.begin() + 280, -1.0);
  std::fill(mean.begin() + 280, mean.end(), 0.0);
  const std::vector<float> sent = SignHistogram(mean, base::Rng(5));
  EXPECT_EQ(std::count_if(sent.begin(), sent.end(), [](float v) { return v > 0; }), 200);
  EXPECT_EQ(std::count_if(sent.begin(), sent.end(), [](float v) { return v < 0; }), 80);
  EXPECT_GT(std::count_if(sent.begin(), sent.begin() + 200, [](float v) { return v <= 0; }), 40);
  for (const float value : sent) EXPECT_LE(std::abs(value), 1.0f);
}

}  // namespace
}  // namespace ostraka::aggregation::attack_vectors_test
