// Slow and obvious versions of the rules by lengths, signs and histories; references.h has all
// others.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/unit/aggregation/references.h"

namespace ostraka::aggregation::testing {

// Positive, negative and zero coordinates of a row.
template <typename T>
Vector SignCountsOf(const std::vector<T>& row) {
  Vector counts(3, 0.0L);
  for (const T value : row) counts[value > 0 ? 0 : value < 0 ? 1 : 2] += 1;
  return counts;
}

inline long double SquaredDistanceOf(const Vector& a, const Vector& b) {
  long double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

// The larger of two clusters of points of small integers, by Lloyd's algorithm from the first two
// that are farthest apart. Distances are multiplied by the clusters' sizes, which keeps them whole.
inline Indices SlowLargerOfTwoMeans(const std::vector<Vector>& points) {
  const std::size_t n = points.size();
  std::array<Vector, 2> sums = {points[0], points[0]};
  std::array<long double, 2> sizes = {1, 1};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (SquaredDistanceOf(points[i], points[j]) > SquaredDistanceOf(sums[0], sums[1])) {
        sums = {points[i], points[j]};
      }
    }
  }
  const auto distance = [&](const Vector& point, std::size_t k) {
    Vector multiple = point;
    for (long double& value : multiple) value *= sizes[k];
    return SquaredDistanceOf(multiple, sums[k]) * sizes[1 - k] * sizes[1 - k];
  };
  std::array<Indices, 2> clusters;
  while (true) {
    std::array<Indices, 2> next;
    for (std::size_t i = 0; i < n; ++i) {
      next[distance(points[i], 1) < distance(points[i], 0) ? 1 : 0].push_back(i);
    }
    if (next == clusters) break;
    clusters = next;
    for (std::size_t k = 0; k < 2; ++k) {
      if (clusters[k].empty()) continue;
      sums[k].assign(points[0].size(), 0.0L);
      for (const std::size_t i : clusters[k]) {
        for (std::size_t a = 0; a < sums[k].size(); ++a) sums[k][a] += points[i][a];
      }
      sizes[k] = static_cast<long double>(clusters[k].size());
    }
  }
  if (clusters[0].size() != clusters[1].size()) {
    return clusters[0].size() > clusters[1].size() ? clusters[0] : clusters[1];
  }
  return std::min(clusters[0], clusters[1]);
}

template <typename T>
Vector SlowSignGuard(const BasicMatrix<T>& rows, long double low, long double high) {
  std::vector<Vector> counts;
  for (const auto& row : rows) counts.push_back(SignCountsOf(row));
  const Indices alike = SlowLargerOfTwoMeans(counts);
  const Vector lengths = SlowNorms(rows);
  Vector sorted = lengths;
  std::sort(sorted.begin(), sorted.end());
  const long double middle = MedianOfSorted(sorted);
  Indices kept;
  for (const std::size_t i : alike) {
    if (lengths[i] >= low * middle && lengths[i] <= high * middle) kept.push_back(i);
  }
  if (kept.empty()) kept = alike;
  Vector weights(rows.size(), 0.0L);
  for (const std::size_t i : kept) {
    weights[i] = ClipFactor(lengths[i], middle) / static_cast<long double>(kept.size());
  }
  return SlowWeightedSum(rows, weights);
}

// Safeguard over all calls from the first: the trusted rows, and the sums of both windows.
class SlowSafeguard {
 public:
  struct Window {
    std::size_t calls = 0;
    long double threshold = 0;
    std::vector<Vector> sums = {};
  };
  SlowSafeguard(Window short_window, Window long_window)
      : windows_{std::move(long_window), std::move(short_window)} {}

  bool trusts_any() const {
    return call_ == 0 || std::find(trusted_.begin(), trusted_.end(), true) != trusted_.end();
  }
  // The mean of the rows that were trusted before this call. REQUIRES: trusts_any().
  template <typename T>
  Vector operator()(const BasicMatrix<T>& rows) {
    if (call_ == 0) trusted_.assign(rows.size(), true);
    Indices good;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (trusted_[i]) good.push_back(i);
    }
    for (Window& window : windows_) {
      if (call_ % window.calls == 0) {
        window.sums.assign(rows.size(), Vector(rows[0].size(), 0.0L));
      }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < rows[i].size(); ++c) {
          window.sums[i][c] += rows[i][c] / static_cast<long double>(good.size());
        }
      }
      Expel(window, good);
    }
    ++call_;
    return SlowMeanOf(rows, good);
  }

 private:
  void Expel(const Window& window, const Indices& good) {
    const auto distance = [&](std::size_t i, std::size_t j) {
      return std::sqrt(SquaredDistanceOf(window.sums[i], window.sums[j]));
    };
    Vector radii;
    for (const std::size_t i : good) {
      Vector near;
      for (const std::size_t j : good) near.push_back(distance(i, j));
      std::sort(near.begin(), near.end());
      radii.push_back(near[std::min(trusted_.size() / 2, near.size() - 1)]);
    }
    const std::size_t median = good[SlowSmallest(radii, 1)[0]];
    for (const std::size_t i : good) {
      if (distance(i, median) > 2 * window.threshold) trusted_[i] = false;
    }
  }

  std::array<Window, 2> windows_;
  std::vector<bool> trusted_;
  std::size_t call_ = 0;
};

}  // namespace ostraka::aggregation::testing
