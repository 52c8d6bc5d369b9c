// The interface that every aggregation rule shares, and the shape of its input.
//
// Numerics contract of the whole folder (docs/architecture.md, numerics): results are a function
// of the input bits alone: the same for any Executor, thread count, instruction set and compiler.
// Sums run in fixed lanes and fixed trees in double; no libm except sqrt; -ffp-contract=off.
//
// float32 rows give float32 results and float64 rows float64 ones: nothing is converted silently.
// The input is never written to.
//
// Thread safety: rules are immutable; Aggregate may run concurrently on different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "node/base/status.h"

namespace ostraka::aggregation {

// n rows of d values each, held by the caller for the length of a call. T is float or double.
template <typename T>
struct BasicRows {
  std::vector<const T*> row;  // n pointers to d values
  std::size_t dimension = 0;  // d
  // d values that some rules take besides the rows (RuleInfo::reference); null: none given.
  const T* reference = nullptr;

  std::size_t count() const { return row.size(); }
};
using Rows = BasicRows<float>;
using DoubleRows = BasicRows<double>;

// Largest magnitude that float64 rows may have: squares and sums of squares stay finite in double.
// float32 rows have no such limit.
inline constexpr double kLargestDouble = 0x1p480;

// Runs body(0..count-1), each exactly once, in any order and on any threads, and returns when all
// have ended. Rules cut their work so that the cut does not depend on the Executor.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void ParallelFor(std::size_t count,
                           const std::function<void(std::size_t)>& body) const = 0;
};

class SerialExecutor final : public Executor {
 public:
  void ParallelFor(std::size_t count, const std::function<void(std::size_t)>& body) const override {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
};

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

// InvalidArgument unless n > 0, d > 0, no row is missing and every value is finite (and within
// kLargestDouble); names the row and coordinate. Covers the reference, if there is one.
base::Status CheckRows(const Rows& rows, const Executor& executor);
base::Status CheckRows(const DoubleRows& rows, const Executor& executor);

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
