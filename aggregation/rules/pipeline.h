// Pre-aggregations followed by a rule, made from names, for `ostraka aggregate`, `compare`, the
// searching attacks and the Python module.
//
// f is given once, for every element. Elements are made anew for each call, because a dropped row
// lowers f. Thread safety: a Pipeline is immutable; the States belong to the caller.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/rules/registry.h"

namespace ostraka::aggregation {

struct ElementSpec {
  std::string name;
  Arguments arguments;
};

struct PipelineSpec {
  ElementSpec rule;
  std::vector<ElementSpec> pre;  // applied in this order, before the rule
  // The number of Byzantine rows to tolerate. May be given in the rule's arguments instead.
  // Required if the rule or a pre-aggregation uses it.
  std::optional<std::size_t> f;
  // Rows with a NaN or an infinity, and float64 rows too large beside the others (scaling.h), are
  // dropped and counted against f, instead of refused.
  bool drop_invalid = false;
};

// "bucketing" or "bucketing:s=2,seed=7".
base::StatusOr<ElementSpec> ParseElement(std::string_view text);

class Pipeline {
 public:
  // InvalidArgument for an unknown name or parameter, or a value outside its range.
  static base::StatusOr<Pipeline> Make(PipelineSpec spec);

  const PipelineSpec& spec() const { return spec_; }
  const RuleInfo& rule() const { return *rule_; }
  std::span<const PreInfo* const> pre() const { return pre_; }
  // True if any element is stateful.
  bool stateful() const;
  // True if any element's state identifies rows by index, so that none may be dropped.
  bool per_row_state() const;
  // True if blocks of coordinates may be aggregated separately with equal results.
  bool blockwise() const;

  // `states` holds a State per element, pre-aggregations first, or is empty at the first call; null
  // means no memory. On an error it is unchanged. Errors as Rule::Aggregate, naming the element;
  // also InvalidArgument if more rows are invalid than f allows, or a required reference is
  // missing. The report is the rule's, with the indices of the given rows.
  // REQUIRES: out.size() == rows.dimension.
  base::Status Aggregate(const Rows& rows, const Executor& executor, std::span<float> out,
                         std::vector<State>* states = nullptr, Report* report = nullptr) const;
  base::Status Aggregate(const DoubleRows& rows, const Executor& executor, std::span<double> out,
                         std::vector<State>* states = nullptr, Report* report = nullptr) const;

 private:
  Pipeline(PipelineSpec spec, const RuleInfo* rule, std::vector<const PreInfo*> pre)
      : spec_(std::move(spec)), rule_(rule), pre_(std::move(pre)) {}

  PipelineSpec spec_;  // every element's arguments include "f" if f was given
  const RuleInfo* rule_;
  std::vector<const PreInfo*> pre_;
};

}  // namespace ostraka::aggregation
