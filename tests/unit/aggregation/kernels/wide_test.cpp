#include "aggregation/kernels/wide.h"

#include <gtest/gtest.h>

#include <vector>

#include "node/base/rng.h"

namespace ostraka::aggregation::wide_test {
namespace {

// Integers of up to 100 bits are exact in Wide, so a 128-bit integer is the reference.
using Integer = __int128;

Wide FromInteger(Integer value) {
  const auto high = static_cast<double>(value);
  return ExactSum(high, static_cast<double>(value - static_cast<Integer>(high)));
}

bool Equals(const Wide& wide, Integer value) {
  const Wide expected = FromInteger(value);
  return wide.high == expected.high && wide.low == expected.low;
}

Integer Draw(base::Rng& rng, int bits) {
  const auto wide = (static_cast<Integer>(rng.Next()) << 64 | rng.Next()) &
                    ((static_cast<Integer>(1) << bits) - 1);
  return rng.Chance(1, 2) ? -wide : wide;
}

TEST(Wide, SumsAndDifferencesOfIntegersAreExact) {
  base::Rng rng(1);
  for (int trial = 0; trial < 10'000; ++trial) {
    const Integer a = Draw(rng, static_cast<int>(rng.Between(1, 100)));
    const Integer b = Draw(rng, static_cast<int>(rng.Between(1, 100)));
    ASSERT_TRUE(Equals(FromInteger(a) + FromInteger(b), a + b));
    ASSERT_TRUE(Equals(FromInteger(a) - FromInteger(b), a - b));
    ASSERT_EQ(FromInteger(a) < FromInteger(b), a < b);
    ASSERT_EQ(FromInteger(a) <= FromInteger(b), a <= b);
    ASSERT_EQ(FromInteger(a) > FromInteger(b), a > b);
  }
}

TEST(Wide, ProductsOfIntegersAreExact) {
  base::Rng rng(2);
  for (int trial = 0; trial < 10'000; ++trial) {
    const Integer a = Draw(rng, static_cast<int>(rng.Between(1, 50)));
    const Integer b = Draw(rng, static_cast<int>(rng.Between(1, 50)));
    ASSERT_TRUE(Equals(FromInteger(a) * FromInteger(b), a * b));
    ASSERT_TRUE(Equals(ExactProduct(static_cast<double>(a), static_cast<double>(b)), a * b));
  }
}

TEST(Wide, QuotientsAndRootsInvertProducts) {
  base::Rng rng(3);
  for (int trial = 0; trial < 10'000; ++trial) {
    const Wide a = ExactSum(rng.Unit() + 0.1, rng.Unit() * 1e-17);
    const Wide b = ExactSum(rng.Unit() + 0.1, rng.Unit() * 1e-17);
    const Wide quotient = a / b;
    ASSERT_LE(std::abs((quotient * b - a).high), 0x1p-101 * a.high);
    const Wide root = Sqrt(a);
    ASSERT_LE(std::abs((root * root - a).high), 0x1p-101 * a.high);
  }
}

TEST(Wide, KeepsDigitsThatDoubleLoses) {
  const Wide sum = Wide(1e30) + Wide(1.0 / 3) - Wide(1e30);
  EXPECT_EQ(sum.high, 1.0 / 3);
  EXPECT_EQ(static_cast<double>(sum), 1.0 / 3);
}

TEST(Wide, EdgesBehaveLikeNumbers) {
  EXPECT_EQ(Sqrt(Wide(0.0)).high, 0);
  EXPECT_EQ(Sqrt(Wide(-1.0)).high, 0);
  EXPECT_EQ(Abs(Wide(-2.0, -1e-20)).low, 1e-20);
  EXPECT_EQ(Abs(Wide(2.0, -1e-20)).low, -1e-20);
  EXPECT_FALSE(Wide(1.0) < Wide(1.0));
  EXPECT_TRUE(Wide(1.0) <= Wide(1.0));
  EXPECT_TRUE(Wide(1.0, -1e-20) < Wide(1.0));
}

}  // namespace
}  // namespace ostraka::aggregation::wide_test
