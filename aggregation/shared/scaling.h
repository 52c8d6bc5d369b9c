// Powers of two for float64 rows: rules multiply values with each other, up to the fourth power,
// and double holds few such products of values near the ends of its own range. Multiplying by a
// power of two is exact, so that rows times 2^k give the result times 2^k, to the bit.
//
// float32 rows need none of this: double holds the fourth power of every difference of theirs.
//
// Limits, which messages and docs name: a row may be at most 2^400 times as large as the middle row
// (ExponentFor refuses others by name); a row all of whose values are below 2^-700 of the largest
// value of all counts as zero; differences below 2^-470 of the largest value may count as none.
//
// Internal to aggregation. Thread safety: pure functions; const.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aggregation/shared/parameters.h"
#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

// What an entry does with values, which decides how large they may be.
enum class Arithmetic {
  kCompares,    // never leaves the range of the values
  kAdds,        // sums of them
  kMultiplies,  // products of up to four
};

// The rows that are not finite, or for `arithmetic` too large beside the middle row. Ascending.
template <typename T>
std::vector<std::size_t> UnfitRows(Arithmetic arithmetic, const BasicRows<T>& rows,
                                   const Executor& executor);

// The k for which the values times 2^k are fit for `arithmetic`; 0 where they are so as they stand.
// InvalidArgument names a row, the reference or a state that is too large beside the middle row.
// `state` may be null. REQUIRES: all values are finite, and numbers of the state are in the rows'
// unit if `numbers`.
base::StatusOr<int> ExponentFor(Arithmetic arithmetic, const DoubleRows& rows, const State* state,
                                bool numbers, const Executor& executor);

// A copy of rows and reference, times 2^exponent.
class ScaledRows {
 public:
  ScaledRows(Arithmetic arithmetic, const DoubleRows& rows, int exponent, const Executor& executor);
  ScaledRows(const ScaledRows&) = delete;
  ScaledRows& operator=(const ScaledRows&) = delete;

  const DoubleRows& rows() const { return rows_; }

 private:
  std::vector<double> values_;
  DoubleRows rows_;
};

// Multiplies by 2^exponent, within the finite range and never to -0.
void Scale(std::span<double> values, int exponent, const Executor& executor);

// The vectors of a state, and its numbers if they are in the rows' unit.
void ScaleState(State& state, bool numbers, int exponent, const Executor& executor);

// Scores and residual of a report, each by its power of the rows' unit.
void ScaleReport(Report& report, int exponent);

// The parameters that are in the rows' unit (ParameterInfo::in_rows_unit), kept positive and
// finite.
Parameters ScaledParameters(const Parameters& parameters, std::span<const ParameterInfo> infos,
                            int exponent);

}  // namespace ostraka::aggregation
