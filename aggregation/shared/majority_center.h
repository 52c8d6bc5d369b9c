// Chooses the center for rows before their inner products are formed.
//
// Internal to aggregation. Thread safety: pure function.
#pragma once

#include <cstddef>

#include "aggregation/kernels/rows.h"

namespace ostraka::aggregation {

enum class Look { kSample, kAll };

// The row with the smallest distance to a majority of the rows, judged by a sample of coordinates
// or by all; ties: the first. It is only a starting point: a bad choice (rows that differ in other
// coordinates) costs precision, which callers measure. Looking at all coordinates costs as much as
// a Gram matrix.
// REQUIRES: rows are not empty.
template <typename T>
std::size_t MajorityCenter(const BasicRows<T>& rows, Look look = Look::kSample);

}  // namespace ostraka::aggregation
