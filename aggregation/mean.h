// The arithmetic mean: no robustness, the baseline that every attack breaks.
#pragma once

#include "aggregation/rule.h"

namespace ostraka::aggregation {

class Mean final : public Rule {
 public:
  std::string_view name() const override { return "mean"; }
  base::Status Aggregate(const Rows& rows, const Executor& executor,
                         std::span<float> out) const override;
};

}  // namespace ostraka::aggregation
