// Our own division and square root (division.inc) over a device whose own are wrong by up to three
// units in the last place.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exact/device/conformance_program.h"
#include "exact/device/emulated_device.h"
#include "exact/device/kernel_list.h"
#include "node/base/rng.h"

namespace ostraka::exact::division_test {
namespace {

int wrong_by = 0;  // units

float Wrong(float a) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) +
                              static_cast<std::uint32_t>(wrong_by));
}

#define OWN_DIVISION
#define EMULATED_DIVIDE(a, b) Wrong((a) / (b))
#define EMULATED_ROOT(a) Wrong(std::sqrt(a))
#include "exact/device/emulation.inc"

#include "exact/device/kernels.inc"

#include "exact/device/emulation_table.inc"

std::uint32_t CanonicalBits(float a) { return a != a ? 0x7fc00000U : BitsOf(a); }

void ExpectQuotient(float a, float b) {
  ASSERT_EQ(CanonicalBits(Div(a, b)), CanonicalBits(a / b))
      << BitsOf(a) << " / " << BitsOf(b) << ", wrong by " << wrong_by;
}
void ExpectRoot(float a) {
  ASSERT_EQ(CanonicalBits(Root(a)), CanonicalBits(std::sqrt(a)))
      << BitsOf(a) << ", wrong by " << wrong_by;
}

// Around each power of two, the ends of the subnormals, and what is no number.
std::vector<float> Specials() {
  std::vector<float> values;
  for (std::uint32_t field = 0; field < 255; field += 1) {
    for (const std::uint32_t fraction : {0U, 1U, 0x400000U, 0x7fffffU}) {
      values.push_back(FloatOf(field << 23 | fraction));
      values.push_back(FloatOf(0x80000000U | field << 23 | fraction));
    }
  }
  for (const std::uint32_t bits : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc12345U, 0x7f800001U,
                                   2U, 3U, 5U, 7U, 0x7ffffeU}) {
    values.push_back(FloatOf(bits));
  }
  return values;
}

// Floats with any bits; by turns one is subnormal, or both are close, or the quotient is.
std::pair<float, float> DrawOperands(base::Rng& rng) {
  const std::uint64_t bits = rng.Next();
  auto a = static_cast<std::uint32_t>(bits);
  auto b = static_cast<std::uint32_t>(bits >> 32);
  switch (rng.Below(6)) {
    case 0:
      a &= 0x807fffffU;
      break;
    case 1:
      b &= 0x807fffffU;
      break;
    case 2:  // subnormal quotients
      a = (a & 0x80ffffffU) | 0x00800000U;
      b = (b & 0x80ffffffU) | 0x3f000000U;
      break;
    case 3:  // few bits: quotients near a middle between two floats
      a = (a & 0x80000fffU) | 0x3f800000U;
      b = (b & 0x80000fffU) | 0x3f800000U;
      break;
    case 4:
      a |= 0x7fff00U;
      b |= 0x7fff00U;
      break;
    default:
      break;
  }
  return {FloatOf(a), FloatOf(b)};
}

TEST(OwnDivision, EqualsTheProcessorsForAnyOperands) {
  for (wrong_by = -3; wrong_by <= 3; ++wrong_by) {
    base::Rng rng(static_cast<std::uint64_t>(10 + wrong_by));
    for (int i = 0; i < 150'000; ++i) {
      const auto [a, b] = DrawOperands(rng);
      ExpectQuotient(a, b);
    }
  }
}

TEST(OwnDivision, EqualsTheProcessorsForAllSpecialPairs) {
  wrong_by = 3;
  const std::vector<float> specials = Specials();
  for (const float a : specials) {
    for (std::size_t i = 0; i < specials.size(); i += 7) ExpectQuotient(a, specials[i]);
  }
}

TEST(OwnRoot, EqualsTheProcessors) {
  for (wrong_by = -3; wrong_by <= 3; ++wrong_by) {
    for (const float a : Specials()) ExpectRoot(a);
    base::Rng rng(static_cast<std::uint64_t>(20 + wrong_by));
    for (int i = 0; i < 150'000; ++i) {
      const auto bits = static_cast<std::uint32_t>(rng.Next());
      ExpectRoot(FloatOf(rng.Chance(1, 4) ? bits & 0x007fffffU : bits & 0x7fffffffU));
    }
  }
}

TEST(OwnDivision, GivesTheRecordedDigestOverWrongOnes) {
  wrong_by = 2;
  const auto device = MakeEmulatedDevice({.kernels = kTable});
  EXPECT_EQ(ProgramDigest(*device).value().Hex(), kProgramDigest);
}

}  // namespace
}  // namespace ostraka::exact::division_test
