// Krum's score in its four published forms.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/shared/selection.h"

namespace ostraka::aggregation {

// The default is that of the paper: squared distances, n - f - 2 neighbours.
struct KrumScore {
  enum class MultiCount { kAllButFAndTwo, kAllButF, kOne };

  int power = 2;                                        // of the distance: 1, 2 or 4
  std::size_t not_counted = 2;                          // neighbours are n - f - not_counted
  MultiCount multi_count = MultiCount::kAllButFAndTwo;  // number of rows that multi_krum selects

  // At least 1, if there is another row.
  std::size_t NeighbourCount(std::size_t n, std::size_t f) const;
};

// REQUIRES: one of paper, byzfl, epfl, byzmom.
KrumScore KrumScoreOf(std::string_view variant);

// For each row the sum over its `neighbours` nearest others, in ascending order of distance.
// Removed rows neither count nor score (0); an empty `removed` removes none.
std::vector<double> KrumScores(const SymmetricMatrix& squares, std::span<const char> removed,
                               std::size_t neighbours, const KrumScore& score);

}  // namespace ostraka::aggregation
