#include "aggregation/optim/cosine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace ostraka::aggregation::cosine_test {
namespace {

TEST(HalfCosine, BeginsAtOneAndEndsAtZero) {
  for (const std::uint64_t m : {1u, 2u, 3u, 97u, 100'000'000u}) {
    EXPECT_EQ(HalfCosine(0, m), 1.0);
    EXPECT_EQ(HalfCosine(m, m), 0.0);
    EXPECT_GT(HalfCosine(m - 1, m), 0.0);
  }
}

TEST(HalfCosine, IsWithinTwoUnitsOfTheTrueCosine) {
  double worst = 0;
  for (std::uint64_t m = 1; m <= 400; ++m) {
    for (std::uint64_t n = 0; n <= m; ++n) {
      const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(n) /
                                static_cast<long double>(m);
      const auto truth = static_cast<double>((1 + std::cos(angle)) / 2);
      worst = std::max(worst, std::abs(HalfCosine(n, m) - truth));
    }
  }
  EXPECT_LE(worst, 0x1p-52);
}

TEST(HalfCosine, NeverRises) {
  for (std::uint64_t n = 0; n < 1000; ++n) EXPECT_GE(HalfCosine(n, 1000), HalfCosine(n + 1, 1000));
}

}  // namespace
}  // namespace ostraka::aggregation::cosine_test
