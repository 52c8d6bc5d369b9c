// Numbers of twice double's precision (106 bits): the unevaluated sum of two doubles.
//
// CenteredClip's last stage uses these when rows of enormous pull cancel each other and only the
// small remainder matters. Uses only IEEE-754 operations in a fixed order, so it is bit-identical
// on every machine. Error-free sums and products after Knuth and Dekker (Numerische Mathematik 18,
// 1971); the relative error of + - * / and Sqrt is a few units of 2^-104.
//
// Thread safety: plain values. REQUIRES: magnitudes below 2^990 (Dekker's split multiplies by
// 2^27).
#pragma once

#include <cmath>

namespace ostraka::aggregation {

struct Wide {
  double high = 0;
  double low = 0;  // |low| <= half a unit in the last place of high

  constexpr Wide() = default;
  constexpr Wide(double value) : high(value) {}  // NOLINT: numbers convert as double's literals do
  constexpr Wide(double h, double l) : high(h), low(l) {}

  explicit operator double() const { return high; }
};

// a + b exactly.
inline Wide ExactSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// a b exactly, unless the low part underflows.
inline Wide ExactProduct(double a, double b) {
  constexpr double kSplitter = 134217729.0;  // 2^27 + 1
  const double product = a * b;
  const double scaled_a = kSplitter * a;
  const double scaled_b = kSplitter * b;
  const double a_high = scaled_a - (scaled_a - a);
  const double b_high = scaled_b - (scaled_b - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

inline Wide operator-(const Wide& a) { return {-a.high, -a.low}; }

inline Wide operator+(const Wide& a, const Wide& b) {
  const Wide high = ExactSum(a.high, b.high);
  const Wide low = ExactSum(a.low, b.low);
  const Wide first = ExactSum(high.high, high.low + low.high);
  return ExactSum(first.high, first.low + low.low);
}
inline Wide operator-(const Wide& a, const Wide& b) { return a + -b; }

inline Wide operator*(const Wide& a, const Wide& b) {
  const Wide product = ExactProduct(a.high, b.high);
  return ExactSum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// Long division with three double digits.
inline Wide operator/(const Wide& a, const Wide& b) {
  const double first = a.high / b.high;
  Wide rest = a - b * Wide(first);
  const double second = rest.high / b.high;
  rest = rest - b * Wide(second);
  const double third = rest.high / b.high;
  return ExactSum(first, second) + Wide(third);
}

inline Wide& operator+=(Wide& a, const Wide& b) { return a = a + b; }
inline Wide& operator-=(Wide& a, const Wide& b) { return a = a - b; }
inline Wide& operator*=(Wide& a, const Wide& b) { return a = a * b; }

inline bool operator<(const Wide& a, const Wide& b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}
inline bool operator>(const Wide& a, const Wide& b) { return b < a; }
inline bool operator<=(const Wide& a, const Wide& b) {
  return a.high < b.high || (a.high == b.high && a.low <= b.low);
}
inline bool operator>=(const Wide& a, const Wide& b) { return b <= a; }

// One Newton step from the double root. Zero for values that are not positive.
inline Wide Sqrt(const Wide& a) {
  if (!(a.high > 0)) return 0;
  const double root = std::sqrt(a.high);
  const Wide rest = a - ExactProduct(root, root);
  return ExactSum(root, rest.high / (2 * root));
}
inline Wide Abs(const Wide& a) { return a.high < 0 || (a.high == 0 && a.low < 0) ? -a : a; }

// Overloads for double, so that an algorithm can be written once for both types.
inline double Sqrt(double a) { return a > 0 ? std::sqrt(a) : 0.0; }
inline double Abs(double a) { return std::abs(a); }

// A bound on the relative error of one operation.
template <typename Real>
inline constexpr double kRounding = 0x1p-53;
template <>
inline constexpr double kRounding<Wide> = 0x1p-102;

}  // namespace ostraka::aggregation
