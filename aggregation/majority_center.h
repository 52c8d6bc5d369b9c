// Where to centre rows before their inner products are formed.
//
// Internal to aggregation. Thread safety: pure function.
#pragma once

#include <cstddef>

#include "aggregation/rule.h"

namespace ostraka::aggregation {

// The row that has a majority of the rows nearest around it, as far as a sample of coordinates
// shows: the first of equals. Only a start: a bad one (rows that differ elsewhere) costs digits,
// which callers measure. REQUIRES: rows are not empty.
template <typename T>
std::size_t MajorityCenter(const BasicRows<T>& rows);

}  // namespace ostraka::aggregation
