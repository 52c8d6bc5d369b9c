#include "sim/compare/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "node/base/check.h"

namespace ostraka::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by the
// modified method of Lentz.
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kClose = 1e-15;
  constexpr int kMost = 1000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMost; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      fraction *= d * c;
    }
    if (std::abs(d * c - 1) < kClose) break;
  }
  return fraction;
}

// I_x(a, b).
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

// P(T > x) for x >= 0.
double StudentTail(double x, double degrees) {
  return 0.5 * IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + x * x));
}

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

double StudentQuantile(double p, double degrees) {
  OSTRAKA_CHECK(p > 0 && p < 1 && degrees >= 1);
  if (p == 0.5) return 0;
  if (p < 0.5) return -StudentQuantile(1 - p, degrees);
  double low = 0;
  double high = 1;
  while (StudentTail(high, degrees) > 1 - p) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, degrees) > 1 - p ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval MeanInterval(std::span<const double> values, double tail) {
  OSTRAKA_CHECK(!values.empty());
  const double mean = MeanOf(values);
  if (values.size() == 1) return {mean, -kInfinity, kInfinity};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto k = static_cast<double>(values.size());
  if (squares == 0) return {mean, mean, mean};
  const double half = StudentQuantile(1 - tail, k - 1) * std::sqrt(squares / (k - 1) / k);
  return {mean, mean - half, mean + half};
}

Interval WorstInterval(const std::vector<std::vector<double>>& values) {
  OSTRAKA_CHECK(!values.empty());
  Interval worst{kInfinity, kInfinity, kInfinity};
  for (const std::vector<double>& attack : values) {
    const Interval plain = MeanInterval(attack);
    const Interval wide = MeanInterval(attack, 0.025 / static_cast<double>(values.size()));
    worst.mean = std::min(worst.mean, plain.mean);
    worst.low = std::min(worst.low, plain.low);
    worst.high = std::min(worst.high, wide.high);
  }
  return worst;
}

bool TellApart(std::span<const double> a, std::span<const double> b) {
  OSTRAKA_CHECK(a.size() == b.size());
  if (a.size() < 2) return false;
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const Interval interval = MeanInterval(differences);
  return interval.low > 0 || interval.high < 0;
}

}  // namespace ostraka::compare
