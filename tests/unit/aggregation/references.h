// Slow and obvious versions of the rules, straight from their definitions in long double: what the
// fast ones are compared with. No cleverness here: loops over definitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::testing {

using Vector = std::vector<long double>;
using Indices = std::vector<std::size_t>;

inline Vector ColumnOf(const Matrix& rows, std::size_t c) {
  Vector column;
  for (const auto& row : rows) column.push_back(row[c]);
  std::sort(column.begin(), column.end());
  return column;
}

template <typename Function>
Vector ByColumn(const Matrix& rows, const Function& function) {
  Vector out;
  for (std::size_t c = 0; c < rows[0].size(); ++c) out.push_back(function(ColumnOf(rows, c)));
  return out;
}

inline long double MeanOfRange(const Vector& values, std::size_t begin, std::size_t end) {
  long double sum = 0;
  for (std::size_t k = begin; k < end; ++k) sum += values[k];
  return sum / static_cast<long double>(end - begin);
}

inline long double MedianOfSorted(const Vector& x) {
  const std::size_t n = x.size();
  return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

// The mean of the `count` sorted values nearest to `center`; of values equally far the lower first.
inline long double MeanOfNearestTo(Vector x, long double center, std::size_t count) {
  std::stable_sort(x.begin(), x.end(), [&](long double a, long double b) {
    return std::abs(a - center) < std::abs(b - center);
  });
  return MeanOfRange(x, 0, count);
}

inline Vector SlowMedian(const Matrix& rows) { return ByColumn(rows, MedianOfSorted); }
inline Vector SlowLowerMedian(const Matrix& rows) {
  return ByColumn(rows, [](const Vector& x) { return x[(x.size() - 1) / 2]; });
}
inline Vector SlowTrimmedMean(const Matrix& rows, std::size_t f) {
  return ByColumn(rows, [&](const Vector& x) { return MeanOfRange(x, f, x.size() - f); });
}
inline Vector SlowMeamed(const Matrix& rows, std::size_t f) {
  return ByColumn(
      rows, [&](const Vector& x) { return MeanOfNearestTo(x, MedianOfSorted(x), x.size() - f); });
}
inline Vector SlowPhocas(const Matrix& rows, std::size_t f) {
  return ByColumn(rows, [&](const Vector& x) {
    return MeanOfNearestTo(x, MeanOfRange(x, f, x.size() - f), x.size() - f);
  });
}
inline Vector SlowSignMajority(const Matrix& rows) {
  return ByColumn(rows, [](const Vector& x) {
    int sum = 0;
    for (const long double value : x) sum += value > 0 ? 1 : value < 0 ? -1 : 0;
    return static_cast<long double>(sum > 0 ? 1 : sum < 0 ? -1 : 0);
  });
}

inline Vector SlowMeanOf(const Matrix& rows, const Indices& chosen) {
  Vector out(rows[0].size(), 0.0L);
  for (const std::size_t i : chosen) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += rows[i][c];
  }
  for (long double& value : out) value /= static_cast<long double>(chosen.size());
  return out;
}

inline Indices SlowSmallest(const Vector& keys, std::size_t count) {
  Indices order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

// Krum's scores: distances to the power `power`, summed over the `neighbours` nearest others.
inline Vector SlowKrumScores(const Matrix& rows, std::size_t neighbours, int power) {
  Vector scores;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Vector near;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      if (j != i) near.push_back(std::pow(SlowDistance(rows[i], rows[j]), power));
    }
    std::sort(near.begin(), near.end());
    near.resize(std::min(neighbours, near.size()));
    scores.push_back(std::accumulate(near.begin(), near.end(), 0.0L));
  }
  return scores;
}

// All subsets of `size` of n, in lexicographic order.
inline std::vector<Indices> SubsetsOf(std::size_t n, std::size_t size) {
  std::vector<char> taken(n, 0);
  std::fill(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(size), 1);
  std::vector<Indices> subsets;
  do {
    Indices subset;
    for (std::size_t i = 0; i < n; ++i) {
      if (taken[i]) subset.push_back(i);
    }
    subsets.push_back(subset);
  } while (std::prev_permutation(taken.begin(), taken.end()));
  return subsets;
}

inline long double DiameterOf(const Matrix& rows, const Indices& subset) {
  long double diameter = 0;
  for (const std::size_t i : subset) {
    for (const std::size_t j : subset)
      diameter = std::max(diameter, SlowDistance(rows[i], rows[j]));
  }
  return diameter;
}

// The largest eigenvalue of a symmetric matrix and a vector of it, by squaring the matrix until it
// is of rank one.
inline std::pair<long double, Vector> SlowTopEigen(std::vector<Vector> a) {
  const std::size_t n = a.size();
  const std::vector<Vector> original = a;
  for (int round = 0; round < 60; ++round) {
    long double largest = 0;
    for (const Vector& row : a) {
      for (const long double value : row) largest = std::max(largest, std::abs(value));
    }
    if (largest == 0) return {0, Vector(n, 0.0L)};
    std::vector<Vector> square(n, Vector(n, 0.0L));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t j = 0; j < n; ++j) {
          square[i][j] += (a[i][k] / largest) * (a[k][j] / largest);
        }
      }
    }
    a = square;
  }
  std::size_t best = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (a[j][j] > a[best][best]) best = j;
  }
  Vector v = a[best];
  const long double length = SlowNorm(v);
  for (long double& value : v) value /= length;
  long double rayleigh = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rayleigh += v[i] * original[i][j] * v[j];
  }
  return {rayleigh, v};
}

// The d x d covariance of rows with weights, about their weighted mean.
inline std::vector<Vector> SlowCovariance(const Matrix& rows, const Vector& weights, Vector& mean) {
  const std::size_t d = rows[0].size();
  const long double sum = std::accumulate(weights.begin(), weights.end(), 0.0L);
  mean.assign(d, 0.0L);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < d; ++c) mean[c] += weights[i] * rows[i][c] / sum;
  }
  std::vector<Vector> covariance(d, Vector(d, 0.0L));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t a = 0; a < d; ++a) {
      for (std::size_t b = 0; b < d; ++b) {
        covariance[a][b] += weights[i] * (rows[i][a] - mean[a]) * (rows[i][b] - mean[b]) / sum;
      }
    }
  }
  return covariance;
}

inline long double VarianceOf(const Matrix& rows, const Indices& subset) {
  Vector weights(rows.size(), 0.0L);
  for (const std::size_t i : subset) weights[i] = 1;
  Vector mean;
  return SlowTopEigen(SlowCovariance(rows, weights, mean)).first;
}

// The filter of CAF; the published one takes its maximum over all rows, which need not end.
inline Vector SlowCaf(const Matrix& rows, std::size_t f, bool maximum_over_all) {
  const std::size_t n = rows.size();
  Vector c(n, 1.0L);
  Vector best;
  long double best_value = 0;
  while (std::accumulate(c.begin(), c.end(), 0.0L) > static_cast<long double>(n - 2 * f)) {
    Vector mean;
    const auto [value, v] = SlowTopEigen(SlowCovariance(rows, c, mean));
    if (best.empty() || value < best_value) {
      best = mean;
      best_value = value;
    }
    Vector t(n, 0.0L);
    long double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < v.size(); ++k) t[i] += (rows[i][k] - mean[k]) * v[k];
      t[i] *= t[i];
      if (maximum_over_all || c[i] > 0) largest = std::max(largest, t[i]);
    }
    if (largest == 0) break;
    for (std::size_t i = 0; i < n; ++i) c[i] *= c[i] > 0 ? 1 - t[i] / largest : 0;
  }
  return best;
}

}  // namespace ostraka::aggregation::testing
