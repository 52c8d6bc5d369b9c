#include "exact/models/rotary.h"

#include "node/base/check.h"

namespace ostraka::exact {
namespace {

constexpr double kLnBase = 9.210340371976182736;  // ln 10000
constexpr double kTwoPi = 6.283185307179586477;

// e^-x for 0 <= x <= 10, by the series of e^(x / 1024), squared ten times.
double ExpOfMinus(double x) {
  const double small = -x / 1024;
  double term = 1;
  double sum = 1;
  for (int k = 1; k <= 12; ++k) {
    term *= small / k;
    sum += term;
  }
  for (int i = 0; i < 10; ++i) sum *= sum;
  return sum;
}

// sin (first = x) or cos (first = 1) by their series, for |x| <= pi.
double Series(double first, double x, int power) {
  double term = first;
  double sum = first;
  for (int k = power; k < 40; k += 2) {
    term *= -x * x / ((k + 1) * (k + 2));
    sum += term;
  }
  return sum;
}

}  // namespace

RotaryTables MakeRotaryTables(std::int64_t positions, std::int64_t pairs) {
  OSTRAKA_CHECK(positions > 0 && pairs > 0);
  RotaryTables tables;
  for (std::int64_t t = 0; t < positions; ++t) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const double rate = ExpOfMinus(kLnBase * static_cast<double>(i) / static_cast<double>(pairs));
      double angle = static_cast<double>(t) * rate;
      angle -= kTwoPi * static_cast<double>(static_cast<std::int64_t>(angle / kTwoPi));
      if (angle > kTwoPi / 2) angle -= kTwoPi;
      tables.cosines.push_back(static_cast<float>(Series(1, angle, 0)));
      tables.sines.push_back(static_cast<float>(Series(angle, angle, 1)));
    }
  }
  return tables;
}

}  // namespace ostraka::exact
