// Where to centre rows before their inner products are formed.
//
// Internal to aggregation. Thread safety: pure function.
#pragma once

#include <cstddef>

#include "aggregation/kernels/rows.h"

namespace ostraka::aggregation {

enum class Look { kSample, kAll };

// The row that has a majority of the rows nearest around it, as far as a sample of coordinates or
// all of them show: the first of equals. Only a start: a bad one (rows that differ elsewhere) costs
// digits, which callers measure. To look at all costs as much as a Gram matrix.
// REQUIRES: rows are not empty.
template <typename T>
std::size_t MajorityCenter(const BasicRows<T>& rows, Look look = Look::kSample);

}  // namespace ostraka::aggregation
