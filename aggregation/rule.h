// The interface that every aggregation rule shares, and the shape of its input.
//
// Numerics contract of the whole folder (docs/architecture.md, numerics): results are a function
// of the input bits alone: the same for any Executor, thread count, instruction set and compiler.
// Sums run in fixed lanes and fixed trees in double; no libm except sqrt; -ffp-contract=off.
//
// Thread safety: rules are immutable; Aggregate may run concurrently on different outputs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "node/base/status.h"

namespace ostraka::aggregation {

// n rows of d floats each, held by the caller for the length of a call.
struct Rows {
  std::vector<const float*> row;  // n pointers to d floats
  std::size_t dimension = 0;      // d

  std::size_t count() const { return row.size(); }
};

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

// InvalidArgument unless n > 0, d > 0 and every value is finite; names the row and coordinate.
base::Status CheckRows(const Rows& rows, const Executor& executor);

class Rule {
 public:
  virtual ~Rule() = default;
  virtual std::string_view name() const = 0;
  // Writes d floats. InvalidArgument for empty or non-finite rows, or n outside the rule's range.
  // REQUIRES: out.size() == rows.dimension, and `out` overlaps no row.
  virtual base::Status Aggregate(const Rows& rows, const Executor& executor,
                                 std::span<float> out) const = 0;
};

}  // namespace ostraka::aggregation
