#include "exact/kernels/logarithm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/exact/testing.h"

namespace ostraka::exact::logarithm_test {
namespace {

TEST(Logarithm, IsCorrectToTheLastUnit) {
  base::Rng rng(1);
  for (int i = 0; i < 500'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(1 + rng.Below(0x7f7fffff)));
    const auto expected = static_cast<float>(std::log(double{x}));
    EXPECT_NEAR(Logarithm(x), expected, std::abs(expected) * 0x1p-23) << x;
  }
}

TEST(Logarithm, SpecialValuesAreDefined) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(testing::BitsOf({Logarithm(1)}), testing::BitsOf({0.0F}));
  EXPECT_EQ(Logarithm(0), -kInfinity);
  EXPECT_EQ(Logarithm(-0.0F), -kInfinity);
  EXPECT_EQ(Logarithm(kInfinity), kInfinity);
  for (const float bad : {-1.0F, -kInfinity, std::bit_cast<float>(0xffc00001U)}) {
    EXPECT_EQ(testing::BitsOf({Logarithm(bad)}), testing::BitsOf({kCanonicalNan}));
  }
}

}  // namespace
}  // namespace ostraka::exact::logarithm_test
