#include "node/protocol/ground/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "aggregation/kernels/projection.h"
#include "crypto/stream.h"
#include "node/base/rng.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::numbers_test {
namespace {

using scene::DigestOf;
using wire::ColumnNumbers;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

SharedBlob BlobOf(const std::vector<float>& values) {
  const base::ByteView bytes = base::AsBytes(std::span(values));
  return crypto::MakeBlob({bytes.begin(), bytes.end()});
}

std::vector<float> RandomFloats(std::uint64_t seed, std::size_t count, double scale) {
  base::Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(scale * rng.Normal());
  return values;
}

// --- the numbers of a column ---------------------------------------------------------------------

// docs/protocol/step.md with plain loops: s_k = <z_k, D> and norm = |part - result|.
ColumnNumbers NaiveNumbers(const std::vector<float>& part, const std::vector<float>& result,
                           const Digest& seed, double tau) {
  std::vector<std::uint8_t> signs(aggregation::SignBytes(part.size()));
  crypto::Stream("signs", seed).Fill(signs);
  const std::size_t plane = signs.size() / wire::kDirections;
  ColumnNumbers numbers;
  double squares = 0;
  for (std::size_t c = 0; c < part.size(); ++c) {
    const double difference = double{part[c]} - double{result[c]};
    squares += difference * difference;
    for (std::size_t k = 0; k < wire::kDirections; ++k) {
      const bool minus = ((signs[k * plane + c / 8] >> (c % 8)) & 1) != 0;
      numbers.s[k] += minus ? -difference : difference;
    }
  }
  numbers.norm = std::sqrt(squares);
  const double weight = numbers.norm <= tau ? 1.0 : tau / numbers.norm;
  for (double& s : numbers.s) s *= weight / std::sqrt(static_cast<double>(part.size()));
  return numbers;
}

TEST(NumbersOfTest, AgreeWithPlainLoops) {
  for (const std::size_t length : {2u, 7u, 64u, 1000u, 5000u}) {
    for (const double tau : {0.01, 1.0, 1e6}) {
      const auto part = RandomFloats(length, length, 2.0);
      const auto result = RandomFloats(length + 1, length, 0.1);
      const Column column{3, {0, length}, BlobOf(result), DigestOf(length)};
      const ColumnNumbers numbers = NumbersOf(part, column, tau);
      const ColumnNumbers naive = NaiveNumbers(part, result, DigestOf(length), tau);
      EXPECT_FALSE(numbers.missing);
      EXPECT_NEAR(numbers.norm, naive.norm, 1e-12 * naive.norm);
      for (std::size_t k = 0; k < wire::kDirections; ++k) {
        EXPECT_NEAR(numbers.s[k], naive.s[k], 1e-12 * std::min(tau, naive.norm));
      }
      EXPECT_TRUE(InHonestRange(numbers, length, tau));
    }
  }
}

TEST(NumbersOfTest, DependOnTheDirection) {
  const auto part = RandomFloats(1, 100, 1.0);
  const auto result = BlobOf(RandomFloats(2, 100, 1.0));
  const auto first = NumbersOf(part, {0, {0, 100}, result, DigestOf(1)}, 1.0);
  const auto second = NumbersOf(part, {0, {0, 100}, result, DigestOf(2)}, 1.0);
  EXPECT_NE(first.s, second.s);
  EXPECT_EQ(first.norm, second.norm);
}

TEST(NumbersOfTest, SayMissingWithoutAResult) {
  const auto numbers = NumbersOf(RandomFloats(1, 8, 1.0), {0, {0, 8}, nullptr, DigestOf(1)}, 1.0);
  EXPECT_TRUE(numbers.missing);
  const double size = aggregation::Norm(RandomFloats(1, 8, 1.0));
  EXPECT_TRUE(SameBits(numbers, ColumnNumbers{.missing = true, .s = {}, .norm = 0, .size = size}));
}

// --- V1 ------------------------------------------------------------------------------------------

TEST(SameBitsTest, SeesEveryBitOfEveryField) {
  const ColumnNumbers numbers{.missing = false, .s = {1, 2, 3, 4}, .norm = 5, .size = 6};
  EXPECT_TRUE(SameBits(numbers, numbers));
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    ColumnNumbers other = numbers;
    other.s[k] = std::nextafter(other.s[k], 10.0);
    EXPECT_FALSE(SameBits(numbers, other)) << k;
  }
  ColumnNumbers other = numbers;
  other.norm = std::nextafter(other.norm, 0.0);
  EXPECT_FALSE(SameBits(numbers, other));
  other = numbers;
  other.size = std::nextafter(other.size, 7.0);
  EXPECT_FALSE(SameBits(numbers, other));
  other = numbers;
  other.missing = true;
  EXPECT_FALSE(SameBits(numbers, other));
}

TEST(SameBitsTest, MinusZeroIsNotZeroAndNanIsItself) {
  ColumnNumbers zero;
  ColumnNumbers minus_zero;
  minus_zero.s[2] = -0.0;
  EXPECT_FALSE(SameBits(zero, minus_zero));
  zero.norm = kNan;
  EXPECT_TRUE(SameBits(zero, zero));
}

// --- the range of honest numbers -----------------------------------------------------------------

TEST(InHonestRangeTest, RefusesWhatIsNotFiniteOrNegative) {
  const ColumnNumbers good{.missing = false, .s = {0.1, -0.1, 0, 0}, .norm = 1};
  ASSERT_TRUE(InHonestRange(good, 100, 1.0));
  for (const double bad : {kNan, kInf, -kInf}) {
    ColumnNumbers numbers = good;
    numbers.norm = bad;
    EXPECT_FALSE(InHonestRange(numbers, 100, 1.0)) << bad;
    for (std::size_t k = 0; k < wire::kDirections; ++k) {
      numbers = good;
      numbers.s[k] = bad;
      EXPECT_FALSE(InHonestRange(numbers, 100, 1.0)) << bad << " at " << k;
    }
  }
  for (const double bad : {kNan, kInf, -kInf, -1e-300}) {
    for (const bool missing : {false, true}) {
      ColumnNumbers numbers = missing ? ColumnNumbers{.missing = true} : good;
      numbers.size = bad;
      EXPECT_FALSE(InHonestRange(numbers, 100, 1.0)) << bad;
    }
  }
  ColumnNumbers numbers = good;
  numbers.norm = -1e-300;
  EXPECT_FALSE(InHonestRange(numbers, 100, 1.0));
}

// The norms of the largest floats, and of the difference of two such parts.
TEST(InHonestRangeTest, EndsWhereFloatsDo) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> part(100, kLargest);
  const Column column{0, {0, 100}, BlobOf(std::vector<float>(100, -kLargest)), DigestOf(1)};
  ColumnNumbers numbers = NumbersOf(part, column, 1.0);
  EXPECT_TRUE(InHonestRange(numbers, 100, 1.0));
  EXPECT_NEAR(numbers.norm, 20 * double{kLargest}, 1e30);
  numbers.norm *= 1 + 1e-9;
  EXPECT_FALSE(InHonestRange(numbers, 100, 1.0));
  numbers = NumbersOf(part, column, 1.0);
  numbers.size *= 1 + 1e-9;
  EXPECT_FALSE(InHonestRange(numbers, 100, 1.0));
}

TEST(InHonestRangeTest, BoundIsMinOneTenOverRootPTimesTheClippedNorm) {
  struct Row {
    std::uint64_t part_length;
    double tau, norm, bound;
  };
  for (const Row& row : {Row{4, 2, 1, 1},         // short parts: |s| <= |D|
                         Row{100, 2, 1, 1},       // where the two bounds meet
                         Row{10'000, 2, 1, 0.1},  // 10 / sqrt(p) of the norm
                         Row{10'000, 2, 5, 0.2},  // clipped to tau
                         Row{4, 2, 5, 2},         //
                         Row{100, 2, 0, 0}}) {    // an equal part projects to nothing
    for (std::size_t k = 0; k < wire::kDirections; ++k) {
      for (const double sign : {-1.0, 1.0}) {
        ColumnNumbers numbers;
        numbers.norm = row.norm;
        numbers.s[k] = sign * row.bound;
        EXPECT_TRUE(InHonestRange(numbers, row.part_length, row.tau)) << row.bound;
        numbers.s[k] = sign * (row.bound * (1 + 1e-9) + 1e-300);
        EXPECT_FALSE(InHonestRange(numbers, row.part_length, row.tau)) << row.bound;
      }
    }
  }
}

// --- tolerances ----------------------------------------------------------------------------------

TEST(SumToleranceTest, IsTheFormulaOfTheProtocol) {
  EXPECT_DOUBLE_EQ(SumTolerance(7, 1e-6, {}, 100), 8 * 7 * 1e-6 / 10);
  EXPECT_DOUBLE_EQ(SumTolerance(7, 1e-6, {3}, 100), 8 * 7 * (1e-6 + 3.0 / 8388608) / 10);
  EXPECT_DOUBLE_EQ(SumTolerance(7, 1e-6, {3, 2}, 100), 8 * 7 * (1e-6 + 3.0 / 8388608 + 2) / 10);
  EXPECT_DOUBLE_EQ(SumTolerance(14, 1e-6, {3}, 100), 2 * SumTolerance(7, 1e-6, {3}, 100));
  EXPECT_DOUBLE_EQ(SumTolerance(7, 1e-6, {3}, 400), SumTolerance(7, 1e-6, {3}, 100) / 2);
}

struct Deviation {
  double ds = 0;
  double dnorm = 0;
  double dsize = 0;
  bool missing = false;
};
double RatioOf(Deviation deviation, std::size_t k, double part_norm, double tau) {
  const ColumnNumbers recomputed{
      .missing = deviation.missing, .s = {}, .norm = 2, .size = part_norm};
  ColumnNumbers stated = recomputed;
  stated.s[k] += deviation.ds;
  stated.norm += deviation.dnorm;
  stated.size += deviation.dsize;
  return DeviationRatio(stated, recomputed, tau, 1e-3, 100);
}

TEST(DeviationRatioTest, MeasuresInUnitsOfTheAccusingThreshold) {
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    EXPECT_EQ(RatioOf({}, k, 4, 1), 0);
    // |ds| against 8 eps_g R / sqrt(p), R = max(part norm, tau).
    EXPECT_NEAR(RatioOf({.ds = 8e-3 * 4 / 10}, k, 4, 1), 1, 1e-9);
    EXPECT_NEAR(RatioOf({.ds = -8e-3 * 4 / 10}, k, 4, 1), 1, 1e-9);
    EXPECT_NEAR(RatioOf({.ds = 8e-3 * 4 / 10}, k, 4, 8), 0.5, 1e-9);
    // |dnorm| against eps_g R.
    EXPECT_NEAR(RatioOf({.dnorm = -1e-3 * 4}, k, 4, 1), 1, 1e-9);
    EXPECT_NEAR(RatioOf({.dnorm = 1e-3 * 4}, k, 1, 4), 1, 1e-9);
    // The larger of the two counts.
    EXPECT_NEAR(RatioOf({.ds = 8e-3 * 4 / 10, .dnorm = 3e-3 * 4}, k, 4, 1), 3, 1e-9);
  }
}

TEST(DeviationRatioTest, SeesAFalseSizeAlsoWhereTheAggregateIsMissing) {
  for (const bool missing : {false, true}) {
    EXPECT_NEAR(RatioOf({.dsize = -1e-3 * 4, .missing = missing}, 0, 4, 1), 1, 1e-9);
    EXPECT_NEAR(RatioOf({.dsize = 1e-3 * 4, .missing = missing}, 0, 1, 4), 1, 1e-9);
    EXPECT_EQ(RatioOf({.dsize = kNan, .missing = missing}, 0, 4, 1), kInf);
  }
  EXPECT_EQ(RatioOf({.ds = 1, .dnorm = 1, .missing = true}, 0, 4, 1), 0);
}

TEST(DeviationRatioTest, ANanConvictsWhereverItStands) {
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    EXPECT_EQ(RatioOf({.ds = kNan}, k, 4, 1), kInf);
    EXPECT_EQ(RatioOf({.ds = kInf}, k, 4, 1), kInf);
  }
  EXPECT_EQ(RatioOf({.dnorm = kNan}, 0, 4, 1), kInf);
  EXPECT_EQ(RatioOf({.dnorm = -kInf}, 0, 4, 1), kInf);
}

}  // namespace
}  // namespace ostraka::protocol::numbers_test
