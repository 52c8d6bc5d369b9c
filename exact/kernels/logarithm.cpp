#include "exact/kernels/logarithm.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "exact/kernels/kernels.h"

namespace ostraka::exact {

// x = m 2^e with m in (1/sqrt(2), sqrt(2)], ln m = 2 artanh(z) with z = (m - 1) / (m + 1).
float Logarithm(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kCanonicalNan;
  if (x == kInfinity) return kInfinity;
  constexpr double kSqrtTwo = 0x1.6a09e667f3bcdp0;
  constexpr double kLnTwo = 0x1.62e42fefa39efp-1;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  constexpr std::uint64_t kOne = std::uint64_t{1023} << 52;
  // A subnormal float is a normal double.
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
  auto exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023);
  auto m = std::bit_cast<double>((bits & kMantissa) | kOne);
  if (m > kSqrtTwo) {
    m *= 0.5;
    exponent += 1;
  }
  const double z = (m - 1) / (m + 1);
  const double square = z * z;
  // |z| <= 0.172: the first term left out is below 2^-46 of the sum.
  double series = 1.0 / 15;
  for (int k = 13; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return static_cast<float>(2 * z * series + exponent * kLnTwo);
}

}  // namespace ostraka::exact
