#include "exact/kernels/float_environment.h"

namespace ostraka::exact {
namespace {

// Volatile operands, so that the processor computes and not the compiler.
template <typename T>
bool RoundsToNearest(T one, T half_unit) {
  volatile T a = one;
  volatile T b = half_unit;
  volatile T three = 3;
  const bool ties_to_even = a + b == one && a + three * b == one + 4 * half_unit;
  const bool below_zero = -a - b == -one && -a - three * b == -one - 4 * half_unit;
  return ties_to_even && below_zero;
}

bool KeepsSubnormals() {
  volatile float smallest_normal = 0x1p-126F;
  volatile float half = 0.5F;
  volatile float subnormal = 0x1p-149F;
  volatile float two_to_24 = 0x1p24F;
  return smallest_normal * half == 0x1p-127F && subnormal * two_to_24 == 0x1p-125F;
}

}  // namespace

base::Status CheckFloatEnvironment() {
  if (!RoundsToNearest<float>(1, 0x1p-24F) || !RoundsToNearest<double>(1, 0x1p-53)) {
    return base::FailedPrecondition(
        "this thread does not round to nearest: some library changed the rounding mode");
  }
  if (!KeepsSubnormals()) {
    return base::FailedPrecondition(
        "this thread flushes subnormal numbers to zero: some library was built with -ffast-math");
  }
  return base::OkStatus();
}

}  // namespace ostraka::exact
