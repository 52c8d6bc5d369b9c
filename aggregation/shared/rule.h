// The interface that every aggregation rule shares. kernels/rows.h has the contract on numerics.
//
// float32 rows give float32 results and float64 rows float64 ones: nothing is converted silently.
// The input is never written to.
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

// What a stateful rule remembers from call to call: a plain value, opaque to callers, who keep it,
// copy it or write it to a file. The empty State is the one before the first call. A State belongs
// to one rule with one set of parameters, one n and one d; another gives InvalidArgument.
struct State {
  std::uint64_t calls = 0;
  std::vector<double> numbers;
  std::vector<std::vector<double>> vectors;

  bool operator==(const State&) const = default;
};

// What a rule found out on the way; fields that mean nothing for a rule stay empty.
struct Report {
  // Rows that the result was made of, ascending; every row where a rule selects none. Indices are
  // those of the rows that were given, also where invalid rows were dropped.
  std::vector<std::size_t> selected;
  std::vector<std::size_t> dropped;  // not finite, left out as the caller asked
  std::vector<double> scores;        // of each row that the rule saw, in its own unit: low is good
  std::vector<double> weights;       // the result is sum_i weights[i] row_i, where a rule is that
  std::size_t iterations = 0;
  double residual = 0;  // what is left of the rule's fixed-point equation
};

// Everything of a call but the rows and the output.
struct Call {
  Call(const Executor& with, State* remembered = nullptr, Report* reported = nullptr)  // NOLINT
      : executor(with), state(remembered), report(reported) {}

  const Executor& executor;
  State* state;    // null: as with an empty State that is thrown away
  Report* report;  // null: nobody asks
};

class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::string_view name() const = 0;
  // Writes d values. InvalidArgument for empty or non-finite rows, n outside the rule's range, or a
  // State that is not this rule's. On an error the State is untouched and `out` holds no meaning.
  // REQUIRES: out.size() == rows.dimension, and `out` overlaps no row.
  virtual base::Status Aggregate(const Rows& rows, const Call& call,
                                 std::span<float> out) const = 0;
  virtual base::Status Aggregate(const DoubleRows& rows, const Call& call,
                                 std::span<double> out) const = 0;
};

// Turns n rows into others before a rule sees them: mixing, clipping, momentum.
class PreAggregation {
 public:
  virtual ~PreAggregation() = default;
  virtual std::string_view name() const = 0;
  // How many rows come out of n.
  virtual std::size_t OutputRows(std::size_t n) const { return n; }
  // Writes OutputRows(n) rows of d values, one after another. Errors as Rule::Aggregate.
  // REQUIRES: out.size() == OutputRows(rows.count()) * rows.dimension; `out` overlaps no row.
  virtual base::Status Apply(const Rows& rows, const Call& call, std::span<float> out) const = 0;
  virtual base::Status Apply(const DoubleRows& rows, const Call& call,
                             std::span<double> out) const = 0;
};

}  // namespace ostraka::aggregation
