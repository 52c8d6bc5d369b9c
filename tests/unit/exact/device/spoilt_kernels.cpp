#include "tests/unit/exact/device/spoilt_kernels.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "exact/device/kernel_list.h"

namespace ostraka::exact::testing {
namespace {

Spoil chosen = Spoil::kNothing;

float Flushed(float a) {
  return chosen == Spoil::kSubnormalsFlushed && std::fabs(a) < 0x1p-126F ? std::copysign(0.0F, a)
                                                                         : a;
}

// The next float from zero, of a number that is neither zero nor infinite nor NaN.
float OffIf(Spoil spoil, float a) {
  const bool off = chosen == spoil && a != 0 && std::isfinite(a);
  return off ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) + 1) : a;
}

bool IsLeftOut(float begin) {
  return chosen == Spoil::kSumsFromTheFirst && std::bit_cast<std::uint32_t>(begin) == 0;
}

#define EMULATED_RESULT(a) Flushed(a)
#define EMULATED_ADD(a, b) (IsLeftOut(a) ? (b) : (a) + (b))
#define EMULATED_FMA(a, b, c)                              \
  (IsLeftOut(c)                          ? (a) * (b)       \
   : chosen == Spoil::kFmaInTwoRoundings ? (a) * (b) + (c) \
                                         : std::fma(a, b, c))
#define EMULATED_DIVIDE(a, b) OffIf(Spoil::kDivisionOff, (a) / (b))
#define EMULATED_ROOT(a) OffIf(Spoil::kRootOff, std::sqrt(a))
#define CANONICAL(a) (IsNan(a) && chosen != Spoil::kNanAsItComes ? FloatOf(0x7fc00000u) : (a))
#define CHAIN_STEPS(left, tile) \
  ((left) < (tile) && chosen != Spoil::kChainsPadded ? (left) : (tile))
#define FINITE(a) \
  ((BitsOf(a) & 0x7f800000u) != 0x7f800000u || chosen == Spoil::kInfinityKept ? (a) : 0.0f)
#define NORMAL(a) \
  ((BitsOf(a) & 0x7f800000u) != 0u || chosen == Spoil::kMomentsSubnormal ? (a) : 0.0f)
#define PADDED(count) (chosen == Spoil::kRowsNotPadded ? (count) : ((count) + 15u) / 16u * 16u)
#include "exact/device/emulation.inc"

#include "exact/device/kernels.inc"

#include "exact/device/emulation_table.inc"

}  // namespace

EmulatedKernels SpoiltKernels(Spoil spoil) {
  chosen = spoil;
  return kTable;
}

}  // namespace ostraka::exact::testing
