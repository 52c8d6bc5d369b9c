// Small clusterings with a fixed rule for ties, for rules that keep the largest cluster.
//
// All return the indices of one cluster in ascending order; among clusters of equal size, the one
// with the lowest index. Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/shared/selection.h"

namespace ostraka::aggregation {

// A smaller share of what a number was computed from is what rounding left of it.
inline constexpr double kHiddenShare = 0x1p-44;

// The cosine of the angle between two vectors, from their inner product and lengths. What rounding
// hides counts as nothing, because normalized weights would make much of it: the cosine is 1 for
// vectors parallel to within 2^-44 (twins), 0 for vectors orthogonal to within that, and where a
// vector is zero or too short for its square.
double Cosine(double product, double length, double other_length);

// 1 - Cosine for every two rows, from their inner products about zero; 0 on the diagonal. Packed as
// a full row-major n x n matrix.
std::vector<double> CosineDistances(const SymmetricMatrix& gram);

// The larger of two clusters: merges the nearest two (average linkage; ties: the pair with the
// lowest indices) until two are left. REQUIRES: n > 0.
std::vector<std::size_t> LargerByAverageLinkage(std::size_t n, std::vector<double> distances);

// The smallest set of more than half of the points that is connected by distances up to some
// threshold. HDBSCAN with a minimum cluster size of n/2 + 1 keeps this set. REQUIRES: n > 0.
std::vector<std::size_t> DensestMajority(std::size_t n, std::span<const double> distances);

// Three numbers of coordinates, below 2^40.
using CountPoint = std::array<std::int64_t, 3>;

// The larger of two clusters by Lloyd's algorithm from the two points farthest apart, in exact
// arithmetic. REQUIRES: not empty.
std::vector<std::size_t> LargerOfTwoMeans(const std::vector<CountPoint>& points);

}  // namespace ostraka::aggregation
