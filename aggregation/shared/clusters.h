// Small clusterings with a fixed rule for ties, for rules that keep the largest cluster.
//
// All return the indices of one cluster in ascending order; among clusters of equal size, the one
// with the lowest index. Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "aggregation/shared/selection.h"

namespace ostraka::aggregation {

// 1 - cos of the angle between rows, from their inner products about zero; 1 where a row is zero,
// 0 on the diagonal. Packed as a full row-major n x n matrix.
std::vector<double> CosineDistances(const SymmetricMatrix& gram);

// The larger of two clusters: merges the nearest two (average linkage; ties: the pair with the
// lowest indices) until two are left. REQUIRES: n > 0.
std::vector<std::size_t> LargerByAverageLinkage(std::size_t n, std::vector<double> distances);

// The smallest set of more than half of the points that is connected by distances up to some
// threshold. HDBSCAN with a minimum cluster size of n/2 + 1 keeps this set. REQUIRES: n > 0.
std::vector<std::size_t> DensestMajority(std::size_t n, std::span<const double> distances);

// The larger of two clusters by Lloyd's algorithm from the two points farthest apart.
// REQUIRES: not empty.
std::vector<std::size_t> LargerOfTwoMeans(const std::vector<std::array<double, 3>>& points);

}  // namespace ostraka::aggregation
