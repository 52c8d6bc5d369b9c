// Rules that treat each coordinate separately: functions for other rules that use them.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {

// A plan with its sorting network.
struct ColumnWork {
  std::vector<simd::Comparator> network;
  simd::ColumnPlan plan;  // views `network`
};

// REQUIRES: 2 trim < n for kTrimmedMean, trim < n and 2 center_trim < n else.
ColumnWork PlanColumns(simd::ColumnRule rule, std::size_t n, std::size_t trim = 0,
                       std::size_t center_trim = 0);

// Runs it over all coordinates; an error names a value that is not finite. If `squares` is not
// null, squares[i] = |row_i - out|^2.
template <typename T>
base::Status RunColumns(const BasicRows<T>& rows, const Executor& executor, const ColumnWork& work,
                        std::span<T> out, std::vector<double>* squares = nullptr);

}  // namespace ostraka::aggregation
