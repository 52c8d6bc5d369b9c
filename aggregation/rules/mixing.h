// Pre-aggregations without a rule: rows in, rows out. `ostraka aggregate --pre P` without --rule
// runs this to show the rows that a rule would receive.
//
// Thread safety: a Mixing is immutable; the States belong to the caller.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "aggregation/rules/pipeline.h"

namespace ostraka::aggregation {

class Mixing {
 public:
  // `f` is passed to every element without an f of its own. Errors as MakePreAggregation.
  // InvalidArgument without elements.
  static base::StatusOr<Mixing> Make(std::vector<ElementSpec> elements,
                                     std::optional<std::size_t> f);

  std::size_t OutputRows(std::size_t n) const;
  // Writes OutputRows(n) rows of d values, one after another. `states` has one State per element,
  // or is empty before the first call. Errors as PreAggregation::Apply; the states are then
  // invalid. REQUIRES: out.size() == OutputRows(n) * d, and `out` overlaps no row.
  base::Status Apply(const Rows& rows, const Executor& executor, std::vector<State>& states,
                     std::span<float> out) const;
  base::Status Apply(const DoubleRows& rows, const Executor& executor, std::vector<State>& states,
                     std::span<double> out) const;

 private:
  template <typename T>
  base::Status Run(BasicRows<T> rows, const Executor& executor, std::vector<State>& states,
                   std::span<T> out) const;

  std::vector<std::unique_ptr<PreAggregation>> elements_;
};

}  // namespace ostraka::aggregation
