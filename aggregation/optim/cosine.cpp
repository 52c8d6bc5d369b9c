#include "aggregation/optim/cosine.h"

#include <array>

#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

// (-1)^k pi^(2 k) / (2 k)!, for k from 11 to 0.
constexpr std::array<double, 12> kTaylor = {
    -0x1.52ae4120fde27p-34, 0x1.ef6e308d6d1c4p-29, -0x1.2a0c591af8314p-23, 0x1.20c62c2f2d7f5p-18,
    -0x1.b6e24f44b128fp-14, 0x1.f9d38a3763cc3p-10, -0x1.a6d1f2a204a8cp-6,  0x1.e1f506891babbp-3,
    -0x1.55d3c7e3cbffap0,   0x1.03c1f081b5ac4p2,   -0x1.3bd3cc9be45dep2,   0x1p0};

// cos(pi x) for 0 <= x <= 1/2.
double CosineOfTurn(double x) {
  const double z = x * x;
  double sum = kTaylor[0];
  for (std::size_t k = 1; k < kTaylor.size(); ++k) {
    const double product = sum * z;
    sum = product + kTaylor[k];
  }
  return sum;
}

}  // namespace

double HalfCosine(std::uint64_t n, std::uint64_t m) {
  OSTRAKA_CHECK(n <= m && m > 0);
  const auto whole = static_cast<double>(m);
  if (n > m - n) {
    return (1.0 - CosineOfTurn(static_cast<double>(m - n) / whole)) * 0.5;
  }
  return (1.0 + CosineOfTurn(static_cast<double>(n) / whole)) * 0.5;
}

}  // namespace ostraka::aggregation
