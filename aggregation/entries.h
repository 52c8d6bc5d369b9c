// The registry's entries, each defined beside the code that it describes. Internal to aggregation.
#pragma once

#include "aggregation/registry.h"

namespace ostraka::aggregation {

extern const RuleInfo kCenteredClipInfo;
extern const RuleInfo kMeanInfo;

// What parameters of several entries have in common.
inline constexpr ParameterInfo kFaults = {.name = "f",
                                          .type = ValueType::kInteger,
                                          .meaning = "Byzantine rows to tolerate",
                                          .default_kind = Default::kRequired};

// Limits that several entries share: f < n / 2, and any f < n.
std::optional<std::size_t> MinorityLimit(std::size_t n, const Parameters& parameters);
std::optional<std::size_t> AnyLimit(std::size_t n, const Parameters& parameters);

}  // namespace ostraka::aggregation
