// Rows at every scale that a type has, and of the kinds that hide in usual ones: shared by the
// tests of scales.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "node/base/rng.h"
#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::testing {

template <typename T>
constexpr bool kIsDouble = std::is_same_v<T, double>;

// From the least to the largest scale at which rows below have a place in T.
template <typename T>
std::vector<int> Scales() {
  if (kIsDouble<T>) {
    return {-1000, -700, -545, -541, -536, -300, -163, -100, 0,
            100,   250,  260,  300,  481,  541,  700,  1000};
  }
  return {-140, -126, -90, -40, 0, 40, 90, 120};
}

inline std::string TextOf(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return {text, end};
}

enum class Kind { kUsual, kTwins, kAllTwins, kZeros, kHuge, kTwoHuge, kLines };
inline constexpr Kind kKinds[] = {Kind::kUsual, Kind::kTwins,   Kind::kAllTwins, Kind::kZeros,
                                  Kind::kHuge,  Kind::kTwoHuge, Kind::kLines};

// Values of 12 bits about 1, so that every product in a reference is exact; then by kind.
template <typename T>
BasicMatrix<T> DrawMatrix(base::Rng& rng, Kind kind, std::size_t n, std::size_t d, int scale) {
  BasicMatrix<T> rows(n, std::vector<T>(d));
  for (auto& row : rows) {
    for (T& value : row) value = static_cast<T>(rng.Between(-2000, 2500)) / 1024;
  }
  const auto multiply = [](std::vector<T>& row, int exponent) {
    for (T& value : row) value = std::ldexp(value, exponent);
  };
  if (kind == Kind::kTwins) {
    for (std::size_t i = 1; i < n; ++i) {
      if (rng.Chance(1, 2)) rows[i] = rows[rng.Below(i)];
    }
  }
  if (kind == Kind::kAllTwins) std::fill(rows.begin(), rows.end(), rows[0]);
  if (kind == Kind::kZeros) {
    for (std::size_t i = 0; i < n; ++i) {
      if (rng.Chance(1, 3)) std::fill(rows[i].begin(), rows[i].end(), T{0});
    }
  }
  if (kind == Kind::kLines) {  // rows and whole multiples of them: angles of 0 and 180 degrees
    for (std::size_t i = 2; i < n; ++i) {
      const auto by = static_cast<T>(rng.Chance(1, 4) ? -3 : rng.Between(1, 3));
      rows[i] = rows[rng.Below(2)];
      for (T& value : rows[i]) value *= by;
    }
  }
  for (auto& row : rows) multiply(row, scale);
  // As far as T goes, and a float64 rule takes.
  const int far = kIsDouble<T> ? std::min(390, 1010 - scale) : std::min(100, 122 - scale);
  if (kind == Kind::kHuge || kind == Kind::kTwoHuge) multiply(rows[0], far);
  if (kind == Kind::kTwoHuge && n > 4) {
    rows[n - 1] = rows[0];
    if (rng.Chance(1, 2)) multiply(rows[n - 1], -far / 2);
  }
  return rows;
}

inline Vector ScaledBy(Vector values, long double factor) {
  for (long double& value : values) value *= factor;
  return values;
}

inline long double Median(Vector values) {
  std::sort(values.begin(), values.end());
  return testing::MedianOfSorted(values);
}

}  // namespace ostraka::aggregation::testing
