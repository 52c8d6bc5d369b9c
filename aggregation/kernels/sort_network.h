// Sorting networks: the sequence of comparisons does not depend on the values, so many columns are
// sorted at once in registers. Batcher's merge exchange (Knuth, TAOCP 3, 5.2.2, algorithm M) for
// any n.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {

// Comparators that put the rows [begin, end) of the sorted order in place; other rows are
// undefined. Comparators that the wanted rows do not depend on are omitted. REQUIRES: begin < end
// <= n.
std::vector<simd::Comparator> SortNetwork(std::size_t n, std::size_t begin, std::size_t end);

}  // namespace ostraka::aggregation
