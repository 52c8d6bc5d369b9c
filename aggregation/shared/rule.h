// The interface that every aggregation rule shares. kernels/rows.h has the contract on numerics.
//
// float32 rows give float32 results and float64 rows give float64 results: nothing is converted
// implicitly. The input is never written.
//
// Thread safety: rules are immutable; Aggregate may run concurrently on different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "node/base/status.h"

namespace ostraka::aggregation {

// The memory of a stateful rule between calls: a plain value, opaque to callers, which keep it,
// copy it or write it to a file. The empty State precedes the first call. A State belongs to one
// rule with one set of parameters, one n and one d; any other use gives InvalidArgument.
struct State {
  std::uint64_t calls = 0;
  std::vector<double> numbers;
  std::vector<std::vector<double>> vectors;

  bool operator==(const State&) const = default;
};

// Details of a call; fields that do not apply to a rule stay empty.
struct Report {
  // Rows that the result consists of, ascending; all rows if the rule selects none. Indices refer
  // to the given rows, even if invalid rows were dropped.
  std::vector<std::size_t> selected;
  std::vector<std::size_t> dropped;  // not finite, dropped at the caller's request
  std::vector<double> scores;   // of each row that the rule saw, in the rule's unit; low is good
  int scores_power = 2;         // the scores' unit is the rows' to this power
  std::vector<double> weights;  // if the rule is linear: result = sum_i weights[i] row_i
  std::size_t iterations = 0;
  double residual = 0;     // of the rule's fixed-point equation
  int residual_power = 1;  // as scores_power
};

// The parameters of a call except the rows and the output.
struct Call {
  Call(const Executor& with, State* remembered = nullptr, Report* reported = nullptr)  // NOLINT
      : executor(with), state(remembered), report(reported) {}

  const Executor& executor;
  State* state;    // null: an empty State that is discarded
  Report* report;  // null: no report
};

class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::string_view name() const = 0;
  // Writes d values. InvalidArgument for empty or non-finite rows, n outside the rule's range, or a
  // State that is not this rule's. On an error the State is unchanged and `out` is meaningless.
  // REQUIRES: out.size() == rows.dimension, and `out` overlaps no row.
  virtual base::Status Aggregate(const Rows& rows, const Call& call,
                                 std::span<float> out) const = 0;
  virtual base::Status Aggregate(const DoubleRows& rows, const Call& call,
                                 std::span<double> out) const = 0;
};

// Transforms n rows before a rule sees them: mixing, clipping, momentum.
class PreAggregation {
 public:
  virtual ~PreAggregation() = default;
  virtual std::string_view name() const = 0;
  // Number of output rows for n input rows.
  virtual std::size_t OutputRows(std::size_t n) const { return n; }
  // Writes OutputRows(n) rows of d values, one after another. Errors as Rule::Aggregate.
  // REQUIRES: out.size() == OutputRows(rows.count()) * rows.dimension; `out` overlaps no row.
  virtual base::Status Apply(const Rows& rows, const Call& call, std::span<float> out) const = 0;
  virtual base::Status Apply(const DoubleRows& rows, const Call& call,
                             std::span<double> out) const = 0;
};

}  // namespace ostraka::aggregation
