// Sorting networks: the same comparisons whatever the values, so that many columns are sorted at
// once in registers. Batcher's merge exchange (Knuth, TAOCP 3, 5.2.2, algorithm M) for any n.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {

// Comparators that put the rows [begin, end) of the sorted order in place; the others keep no
// promise. Whatever the wanted rows do not depend on is left out. REQUIRES: begin < end <= n.
std::vector<simd::Comparator> SortNetwork(std::size_t n, std::size_t begin, std::size_t end);

}  // namespace ostraka::aggregation
