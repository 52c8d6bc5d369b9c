// The rows that are aggregated, and the executor of the loops.
//
// Numerics contract of all of aggregation (docs/architecture.md, numerics): results are a function
// of the input bits alone, independent of Executor, thread count, instruction set and compiler.
// Sums run in fixed lanes and fixed trees in double; no libm except sqrt; -ffp-contract=off.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "node/base/status.h"

namespace ostraka::aggregation {

// n rows of d values each, which the caller holds during a call. T is float or double.
template <typename T>
struct BasicRows {
  std::vector<const T*> row;  // n pointers to d values
  std::size_t dimension = 0;  // d
  // d values that some rules use besides the rows (RuleInfo::reference); may be null.
  const T* reference = nullptr;

  std::size_t count() const { return row.size(); }
};
using Rows = BasicRows<float>;
using DoubleRows = BasicRows<double>;

// Runs body(0..count-1), each exactly once, in any order and on any threads, and returns when all
// have ended. Rules cut their work independently of the Executor.
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

// InvalidArgument, naming row and coordinate, unless n > 0, d > 0, no row is missing and every
// value is finite. Also checks the reference, if there is one.
base::Status CheckRows(const Rows& rows, const Executor& executor);
base::Status CheckRows(const DoubleRows& rows, const Executor& executor);

}  // namespace ostraka::aggregation
