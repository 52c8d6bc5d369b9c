#include "aggregation/kernels/projection.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::projection_test {
namespace {

struct Case {
  std::vector<float> part;
  std::vector<float> center;
  std::vector<std::uint8_t> signs;
};

Case RandomCase(std::size_t length) {
  base::Rng rng(length);
  const auto rows = testing::NormalRows(rng, 2, length);
  Case result{rows[0], rows[1], std::vector<std::uint8_t>(SignBytes(length))};
  for (auto& byte : result.signs) byte = static_cast<std::uint8_t>(rng.Below(256));
  return result;
}

TEST(ClippedProjection, MatchesTheDefinition) {
  for (const std::size_t length : {2u, 7u, 8u, 9u, 255u, 256u, 257u, 3001u}) {
    const Case c = RandomCase(length);
    const long double norm = testing::SlowDistance(c.part, c.center);
    for (const double tau : {0.25, 1e9}) {
      const Projection found = ClippedProjection(c.part, c.center, tau, c.signs);
      EXPECT_NEAR(found.norm, static_cast<double>(norm), 1e-13 * found.norm);
      const long double weight = std::min(1.0L, tau / norm);
      for (std::size_t k = 0; k < kProjectionCount; ++k) {
        long double sum = 0;
        for (std::size_t i = 0; i < length; ++i) {
          const std::uint8_t byte = c.signs[k * ((length + 7) / 8) + i / 8];
          const long double difference = static_cast<long double>(c.part[i]) - c.center[i];
          sum += ((byte >> (i % 8)) & 1) ? -difference : difference;
        }
        const auto expected =
            static_cast<double>(weight * sum / std::sqrt(static_cast<long double>(length)));
        EXPECT_NEAR(found.s[k], expected, 1e-12 * std::min(tau, found.norm)) << length;
      }
    }
  }
}

TEST(ClippedProjection, HasTheSameBitsAtEveryLevel) {
  for (const std::size_t length : {2u, 9u, 256u, 3001u}) {
    const Case c = RandomCase(length);
    const Projection expected =
        ClippedProjection(c.part, c.center, 0.5, c.signs, simd::KernelsFor(simd::Level::kScalar));
    for (const simd::Level level : testing::SupportedLevels()) {
      const Projection found =
          ClippedProjection(c.part, c.center, 0.5, c.signs, simd::KernelsFor(level));
      EXPECT_EQ(found.s, expected.s) << simd::LevelName(level);
      EXPECT_EQ(found.norm, expected.norm) << simd::LevelName(level);
      EXPECT_EQ(Norm(c.part, simd::KernelsFor(level)),
                Norm(c.part, simd::KernelsFor(simd::Level::kScalar)));
    }
  }
}

// A part that lies along z itself reaches Cauchy and Schwarz's bound, where rounding decides.
TEST(ClippedProjection, NeverExceedsTauOrTheNorm) {
  base::Rng rng(1);
  int touched = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t length = 2 + rng.Below(30);
    Case c = RandomCase(length);
    const auto size = static_cast<float>(rng.Unit() + 0.1);
    for (std::size_t i = 0; i < length; ++i) {
      c.center[i] = 0;
      c.part[i] = ((c.signs[i / 8] >> (i % 8)) & 1) ? -size : size;
    }
    const double tau = rng.Unit() * 3 + 0.01;
    const Projection found = ClippedProjection(c.part, c.center, tau, c.signs);
    const double limit = std::min(tau, found.norm);
    for (const double s : found.s) ASSERT_LE(std::abs(s), limit);
    if (found.s[0] == limit) ++touched;
  }
  EXPECT_GT(touched, 100);  // otherwise the test was not near the bound
}

TEST(ClippedProjection, ZeroDifferenceGivesZeros) {
  Case c = RandomCase(100);
  c.part = c.center;
  const Projection found = ClippedProjection(c.part, c.center, 1e-3, c.signs);
  EXPECT_EQ(found.norm, 0);
  for (const double s : found.s) EXPECT_EQ(s, 0);
}

TEST(ClippedProjection, NonFinitePartsGiveNonFiniteNorms) {
  Case c = RandomCase(100);
  c.part[50] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(ClippedProjection(c.part, c.center, 1, c.signs).norm));
  c.part[50] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(ClippedProjection(c.part, c.center, 1, c.signs).norm));
}

TEST(Norm, SurvivesTheWholeRangeOfFloat) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(Norm(std::vector<float>{largest, 0.0f}), static_cast<double>(largest));
  EXPECT_EQ(Norm(std::vector<float>{3.0f, -4.0f}), 5.0);
  EXPECT_EQ(Norm(std::vector<float>{1e-45f}), static_cast<double>(1e-45f));
  EXPECT_EQ(Norm(std::vector<float>{}), 0.0);
}

}  // namespace
}  // namespace ostraka::aggregation::projection_test
