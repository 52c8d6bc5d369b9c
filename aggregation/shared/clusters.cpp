#include "aggregation/shared/clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

using Clusters = std::vector<std::vector<std::size_t>>;

// The first of the largest clusters; clusters are ordered by their lowest index.
std::vector<std::size_t> LargestOf(const Clusters& clusters) {
  const auto largest =
      std::max_element(clusters.begin(), clusters.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return *largest;
}

// Exact for points below 2^40 and clusters below 2^20.
using Integer = __int128;

// A mean as it is exactly: a sum of points and their number.
struct Mean {
  CountPoint sum{};
  Integer count = 1;
};

Mean MeanOf(const std::vector<CountPoint>& points, const std::vector<std::size_t>& cluster) {
  Mean mean;
  for (const std::size_t i : cluster) {
    for (std::size_t k = 0; k < mean.sum.size(); ++k) mean.sum[k] += points[i][k];
  }
  mean.count = static_cast<Integer>(cluster.size());
  return mean;
}

// The squared distance times the square of the mean's count.
Integer SquaredDistance(const CountPoint& point, const Mean& mean) {
  Integer sum = 0;
  for (std::size_t k = 0; k < point.size(); ++k) {
    const Integer difference = mean.count * point[k] - mean.sum[k];
    sum += difference * difference;
  }
  return sum;
}

bool IsNearer(const CountPoint& point, const Mean& one, const Mean& other) {
  return SquaredDistance(point, one) * (other.count * other.count) <
         SquaredDistance(point, other) * (one.count * one.count);
}

}  // namespace

double Cosine(double product, double length, double other_length) {
  constexpr double kLeastLength = 0x1p-480;  // of a square that is a normal number
  if (length < kLeastLength || other_length < kLeastLength) return 0;
  const double cosine = product / length / other_length;
  if (std::abs(cosine) <= kHiddenShare) return 0;
  return cosine >= 1 - kHiddenShare ? 1 : std::max(cosine, -1.0);
}

std::vector<double> CosineDistances(const SymmetricMatrix& gram) {
  const std::size_t n = gram.size();
  std::vector<double> distances(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      distances[i * n + j] = 1 - Cosine(gram(i, j), std::sqrt(gram(i, i)), std::sqrt(gram(j, j)));
    }
  }
  return distances;
}

std::vector<std::size_t> LargerByAverageLinkage(std::size_t n, std::vector<double> distances) {
  OSTRAKA_CHECK(n > 0 && distances.size() == n * n);
  Clusters clusters;
  for (std::size_t i = 0; i < n; ++i) clusters.push_back({i});
  // Distance between clusters a < b, at [lowest index of a * n + lowest index of b].
  const auto at = [&](std::size_t a, std::size_t b) -> double& {
    return distances[clusters[a][0] * n + clusters[b][0]];
  };
  while (clusters.size() > 2) {
    std::size_t first = 0, second = 1;
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = a + 1; b < clusters.size(); ++b) {
        if (at(a, b) < at(first, second)) {
          first = a;
          second = b;
        }
      }
    }
    const auto size_a = static_cast<double>(clusters[first].size());
    const auto size_b = static_cast<double>(clusters[second].size());
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      if (c == first || c == second) continue;
      // In this form the mean of equal distances is that distance, so that ties stay ties.
      const double mean =
          at(first, c) + (at(second, c) - at(first, c)) * (size_b / (size_a + size_b));
      at(first, c) = mean;
      at(c, first) = mean;
    }
    clusters[first].insert(clusters[first].end(), clusters[second].begin(), clusters[second].end());
    std::sort(clusters[first].begin(), clusters[first].end());
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(second));
  }
  return LargestOf(clusters);
}

std::vector<std::size_t> DensestMajority(std::size_t n, std::span<const double> distances) {
  OSTRAKA_CHECK(n > 0 && distances.size() == n * n);
  struct Edge {
    double distance;
    std::size_t a, b;
  };
  std::vector<Edge> edges;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) edges.push_back({distances[a * n + b], a, b});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& x, const Edge& y) { return x.distance < y.distance; });
  std::vector<std::size_t> label(n);
  std::iota(label.begin(), label.end(), std::size_t{0});
  const auto members = [&](std::size_t of) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < n; ++i) {
      if (label[i] == of) found.push_back(i);
    }
    return found;
  };
  // Adds all edges of one length at once: a threshold cannot separate them.
  for (std::size_t k = 0; k < edges.size();) {
    const double threshold = edges[k].distance;
    for (; k < edges.size() && edges[k].distance == threshold; ++k) {
      const std::size_t from = label[edges[k].b];
      const std::size_t to = label[edges[k].a];
      std::replace(label.begin(), label.end(), from, to);
    }
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::size_t> cluster = members(label[i]);
      if (2 * cluster.size() > n) return cluster;
    }
  }
  return members(label[0]);  // a single row
}

std::vector<std::size_t> LargerOfTwoMeans(const std::vector<CountPoint>& points) {
  OSTRAKA_CHECK(!points.empty());
  const std::size_t n = points.size();
  Mean centers[2] = {{points[0]}, {points[0]}};
  Integer farthest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const Integer distance = SquaredDistance(points[i], {points[j]});
      if (distance <= farthest) continue;
      farthest = distance;
      centers[0] = {points[i]};
      centers[1] = {points[j]};
    }
  }
  std::vector<std::size_t> clusters[2];
  // Terminates: no two assignments repeat, as each lowers the sum of squares or ends.
  while (true) {
    std::vector<std::size_t> next[2];
    for (std::size_t i = 0; i < n; ++i) {
      const bool second = IsNearer(points[i], centers[1], centers[0]);
      next[second ? 1 : 0].push_back(i);
    }
    if (next[0] == clusters[0] && next[1] == clusters[1]) break;
    for (int k = 0; k < 2; ++k) {
      clusters[k] = next[k];
      if (!clusters[k].empty()) centers[k] = MeanOf(points, clusters[k]);
    }
  }
  if (clusters[0].size() != clusters[1].size()) {
    return clusters[0].size() > clusters[1].size() ? clusters[0] : clusters[1];
  }
  return clusters[0].front() < clusters[1].front() ? clusters[0] : clusters[1];
}

}  // namespace ostraka::aggregation
