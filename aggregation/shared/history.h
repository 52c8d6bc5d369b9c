// Sums of rows over many calls, for rules and pre-aggregations with a State for each row.
//
// Internal to aggregation. Thread safety: pure functions; a State belongs to one call at a time.
#pragma once

#include <cstddef>
#include <string_view>

#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

// A copy of `state` with `count` vectors of d values each, zero before the first call; `state` may
// be null. InvalidArgument if it has another shape. `owner` begins the message.
base::StatusOr<State> ResumeHistory(std::string_view owner, const State* state, std::size_t count,
                                    std::size_t d);

// The error for a State that `owner` cannot have written.
base::Status ForeignState(std::string_view owner);

// vector_i = decay vector_i + scale row_i, for one vector per row, from vector `first` on.
template <typename T>
void AddToHistory(const BasicRows<T>& rows, double decay, double scale, const Executor& executor,
                  State& state, std::size_t first);

// `count` vectors from `first` on, as rows that are valid as long as `state`.
DoubleRows HistoryRows(const State& state, std::size_t first, std::size_t count, std::size_t d);

}  // namespace ostraka::aggregation
