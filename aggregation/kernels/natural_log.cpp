#include "aggregation/kernels/natural_log.h"

#include <cmath>

#include "node/base/check.h"

namespace ostraka::aggregation {

// x = m 2^e with m in [1/sqrt(2), sqrt(2)), ln m = 2 artanh((m - 1) / (m + 1)) by its series.
double NaturalLog(double x) {
  OSTRAKA_CHECK(x > 0 && std::isfinite(x));
  constexpr double kLnTwo = 0.69314718055994530942;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  double power = s;
  double sum = 0;
  // |s| <= 0.172: 24 terms are below 2^-120 of the first.
  for (int k = 1; k < 48; k += 2) {
    sum += power / k;
    power *= s * s;
  }
  return 2 * sum + exponent * kLnTwo;
}

}  // namespace ostraka::aggregation
