#include "aggregation/kernels/normal_quantile.h"

#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

constexpr double kLimit = 6.0;
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;

// e^y by its power series. REQUIRES: 0 <= y <= 18; all terms are positive, so nothing cancels.
double Exponential(double y) {
  double term = 1;
  double sum = 1;
  for (int k = 1; term > sum * 0x1p-60; ++k) {
    term *= y / k;
    sum += term;
  }
  return sum;
}

}  // namespace

double NormalCdf(double x) {
  OSTRAKA_CHECK(x >= -kLimit && x <= kLimit);
  const double magnitude = x < 0 ? -x : x;
  double term = magnitude;
  double sum = term;
  for (int k = 3; term > sum * 0x1p-60; k += 2) {
    term *= magnitude * magnitude / k;
    sum += term;
  }
  const double half = kInverseSqrtTwoPi / Exponential(magnitude * magnitude / 2) * sum;
  return x < 0 ? 0.5 - half : 0.5 + half;
}

double NormalQuantile(double p) {
  OSTRAKA_CHECK(p >= 0 && p <= 1);
  if (p == 0.5) return 0;
  double low = -kLimit;
  double high = kLimit;
  for (int i = 0; i < 64; ++i) {
    const double middle = 0.5 * (low + high);
    if (NormalCdf(middle) < p) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return 0.5 * (low + high);
}

}  // namespace ostraka::aggregation
