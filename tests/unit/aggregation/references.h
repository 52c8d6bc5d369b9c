// Slow and obvious versions of the rules in long double, straight from their definitions: the
// references of the fast ones. No cleverness here: loops over definitions.
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

template <typename T>
Vector ColumnOf(const BasicMatrix<T>& rows, std::size_t c) {
  Vector column;
  for (const auto& row : rows) column.push_back(row[c]);
  std::sort(column.begin(), column.end());
  return column;
}

template <typename T, typename Function>
Vector ByColumn(const BasicMatrix<T>& rows, const Function& function) {
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

// The mean of the `count` sorted values nearest to `center`; of values equally far the lower is
// taken.
inline long double MeanOfNearestTo(Vector x, long double center, std::size_t count) {
  std::stable_sort(x.begin(), x.end(), [&](long double a, long double b) {
    return std::abs(a - center) < std::abs(b - center);
  });
  return MeanOfRange(x, 0, count);
}

template <typename T>
Vector SlowMedian(const BasicMatrix<T>& rows) {
  return ByColumn(rows, MedianOfSorted);
}
template <typename T>
Vector SlowLowerMedian(const BasicMatrix<T>& rows) {
  return ByColumn(rows, [](const Vector& x) { return x[(x.size() - 1) / 2]; });
}
template <typename T>
Vector SlowTrimmedMean(const BasicMatrix<T>& rows, std::size_t f) {
  return ByColumn(rows, [&](const Vector& x) { return MeanOfRange(x, f, x.size() - f); });
}
template <typename T>
Vector SlowMeamed(const BasicMatrix<T>& rows, std::size_t f) {
  return ByColumn(
      rows, [&](const Vector& x) { return MeanOfNearestTo(x, MedianOfSorted(x), x.size() - f); });
}
template <typename T>
Vector SlowPhocas(const BasicMatrix<T>& rows, std::size_t f) {
  return ByColumn(rows, [&](const Vector& x) {
    return MeanOfNearestTo(x, MeanOfRange(x, f, x.size() - f), x.size() - f);
  });
}
template <typename T>
Vector SlowSignMajority(const BasicMatrix<T>& rows) {
  return ByColumn(rows, [](const Vector& x) {
    int sum = 0;
    for (const long double value : x) sum += value > 0 ? 1 : value < 0 ? -1 : 0;
    return static_cast<long double>(sum > 0 ? 1 : sum < 0 ? -1 : 0);
  });
}

template <typename T>
Vector SlowMeanOf(const BasicMatrix<T>& rows, const Indices& chosen) {
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
template <typename T>
Vector SlowKrumScores(const BasicMatrix<T>& rows, std::size_t neighbours, int power) {
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

template <typename T>
long double DiameterOf(const BasicMatrix<T>& rows, const Indices& subset) {
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
template <typename T>
std::vector<Vector> SlowCovariance(const BasicMatrix<T>& rows, const Vector& weights,
                                   Vector& mean) {
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

template <typename T>
long double VarianceOf(const BasicMatrix<T>& rows, const Indices& subset) {
  Vector weights(rows.size(), 0.0L);
  for (const std::size_t i : subset) weights[i] = 1;
  Vector mean;
  return SlowTopEigen(SlowCovariance(rows, weights, mean)).first;
}

// The filter of CAF; the published version takes its maximum over all rows, and need not terminate.
template <typename T>
Vector SlowCaf(const BasicMatrix<T>& rows, std::size_t f, bool maximum_over_all) {
  const std::size_t n = rows.size();
  Vector c(n, 1.0L);
  Vector best;
  long double best_value = 0;
  do {
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
  } while (std::accumulate(c.begin(), c.end(), 0.0L) > static_cast<long double>(n - 2 * f));
  return best;
}

template <typename T>
Vector SlowRow(const std::vector<T>& row) {
  return {row.begin(), row.end()};
}

inline long double Dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
}
// One a multiple of the other, decided without rounding for values of at most 32 bits.
inline bool AreParallel(const Vector& a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (a[i] * b[j] != a[j] * b[i]) return false;
    }
  }
  return true;
}
inline long double Cosine(const Vector& a, const Vector& b) {
  const long double lengths = SlowNorm(a) * SlowNorm(b);
  if (!(lengths > 0)) return 0;
  if (AreParallel(a, b)) return Dot(a, b) > 0 ? 1 : -1;
  return Dot(a, b) / lengths;
}

template <typename T>
Vector SlowNorms(const BasicMatrix<T>& rows) {
  Vector norms;
  for (const auto& row : rows) norms.push_back(SlowNorm(row));
  return norms;
}
template <typename T>
Vector SlowDistancesTo(const BasicMatrix<T>& rows, const Vector& center) {
  Vector distances;
  for (const auto& row : rows) distances.push_back(SlowDistance(row, center));
  return distances;
}

template <typename T>
Vector SlowWeightedSum(const BasicMatrix<T>& rows, const Vector& weights) {
  Vector out(rows[0].size(), 0.0L);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += weights[i] * rows[i][c];
  }
  return out;
}

inline long double ClipFactor(long double length, long double limit) {
  return length <= limit ? 1.0L : limit / length;
}

// Krum chooses, its choice is removed, and so on; then each column's values nearest its median.
template <typename T>
Indices SlowBulyanSet(const BasicMatrix<T>& rows, std::size_t f) {
  Indices left(rows.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  Indices chosen;
  while (chosen.size() < rows.size() - 2 * f) {
    BasicMatrix<T> rest;
    for (const std::size_t i : left) rest.push_back(rows[i]);
    const std::size_t r = rest.size();
    const Vector scores = SlowKrumScores(rest, r > f + 2 ? r - f - 2 : 1, 2);
    const std::size_t best = SlowSmallest(scores, 1)[0];
    chosen.push_back(left[best]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// `steps` steps v += (1/n) sum_i clip(row_i - v, tau), or Weiszfeld's.
template <typename T>
Vector SlowClipSteps(const BasicMatrix<T>& rows, Vector v, long double tau, int steps) {
  for (int k = 0; k < steps; ++k) {
    const Vector move = SlowClippedSum(rows, v, tau);
    for (std::size_t c = 0; c < v.size(); ++c) {
      v[c] += move[c] / static_cast<long double>(rows.size());
    }
  }
  return v;
}
template <typename T>
Vector SlowWeiszfeld(const BasicMatrix<T>& rows, Vector v, long double nu, int steps) {
  for (int k = 0; k < steps; ++k) {
    Vector weights = SlowDistancesTo(rows, v);
    for (long double& w : weights) w = 1 / std::max(nu, w);
    const long double sum = std::accumulate(weights.begin(), weights.end(), 0.0L);
    for (long double& w : weights) w /= sum;
    v = SlowWeightedSum(rows, weights);
  }
  return v;
}

// FoolsGold's weights, not yet divided by their sum.
template <typename T>
Vector SlowFoolsGold(const BasicMatrix<T>& rows) {
  const std::size_t n = rows.size();
  std::vector<Vector> cs(n, Vector(n, -1.0L));
  Vector most(n, -1.0L);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) cs[i][j] = Cosine(SlowRow(rows[i]), SlowRow(rows[j]));
    }
    most[i] = *std::max_element(cs[i].begin(), cs[i].end());
  }
  Vector w(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j && most[i] < most[j] && most[j] > 0) cs[i][j] *= most[i] / most[j];
    }
    w[i] = std::clamp(1 - *std::max_element(cs[i].begin(), cs[i].end()), 0.0L, 1.0L);
  }
  const long double largest = *std::max_element(w.begin(), w.end());
  for (long double& value : w) {
    value = largest > 0 ? std::min(value / largest, 0.99L) : 0;
    value = value > 0 ? std::clamp(std::log(value / (1 - value)) + 0.5L, 0.0L, 1.0L) : 0;
  }
  return w;
}

// The larger of two clusters by average linkage of 1 - cos,
// averages taken over all pairs anew for each merge.
template <typename T>
Indices SlowLargerCluster(const BasicMatrix<T>& rows) {
  std::vector<Indices> clusters;
  for (std::size_t i = 0; i < rows.size(); ++i) clusters.push_back({i});
  const auto linkage = [&](const Indices& a, const Indices& b) {
    long double sum = 0;
    for (const std::size_t i : a) {
      for (const std::size_t j : b) sum += 1 - Cosine(SlowRow(rows[i]), SlowRow(rows[j]));
    }
    return sum / static_cast<long double>(a.size() * b.size());
  };
  while (clusters.size() > 2) {
    std::size_t first = 0, second = 1;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = a + 1; b < clusters.size(); ++b) {
        // Linkages of twins are equal, but their sums need not round alike.
        if (linkage(clusters[a], clusters[b]) <
            linkage(clusters[first], clusters[second]) * (1 - 1e-14L)) {
          first = a;
          second = b;
        }
      }
    }
    clusters[first].insert(clusters[first].end(), clusters[second].begin(), clusters[second].end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  for (Indices& cluster : clusters) std::sort(cluster.begin(), cluster.end());
  std::sort(clusters.begin(), clusters.end());
  return clusters.size() == 2 && clusters[1].size() > clusters[0].size() ? clusters[1]
                                                                         : clusters[0];
}

// The first threshold at which a majority is connected, by growing from every row.
template <typename T>
Indices SlowDensestMajority(const BasicMatrix<T>& rows) {
  const std::size_t n = rows.size();
  const auto distance = [&](std::size_t i, std::size_t j) {
    return 1 - Cosine(SlowRow(rows[i]), SlowRow(rows[j]));
  };
  Vector thresholds;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) thresholds.push_back(distance(i, j));
  }
  std::sort(thresholds.begin(), thresholds.end());
  for (const long double threshold : thresholds) {
    for (std::size_t from = 0; from < n; ++from) {
      std::vector<char> in(n, 0);
      in[from] = 1;
      for (std::size_t round = 0; round < n; ++round) {
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            if (in[i] && i != j && distance(i, j) <= threshold) in[j] = 1;
          }
        }
      }
      Indices found;
      for (std::size_t i = 0; i < n; ++i) {
        if (in[i]) found.push_back(i);
      }
      if (2 * found.size() > n) return found;
    }
  }
  return {0};
}

}  // namespace ostraka::aggregation::testing
