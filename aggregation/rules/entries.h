// The registry's entries, each defined beside its code. Internal to aggregation.
#pragma once

#include "aggregation/rules/registry.h"

namespace ostraka::aggregation {

extern const RuleInfo kAkselInfo;
extern const RuleInfo kBulyanInfo;
extern const RuleInfo kCafInfo;
extern const RuleInfo kCenteredClipInfo;
extern const RuleInfo kCgeInfo;
extern const RuleInfo kClippedClusteringInfo;
extern const RuleInfo kDncInfo;
extern const RuleInfo kFlameInfo;
extern const RuleInfo kFlTrustInfo;
extern const RuleInfo kFoolsGoldInfo;
extern const RuleInfo kGeometricMedianInfo;
extern const RuleInfo kKrumInfo;
extern const RuleInfo kMdaInfo;
extern const RuleInfo kMeamedInfo;
extern const RuleInfo kMeanInfo;
extern const RuleInfo kMedianInfo;
extern const RuleInfo kMonnaInfo;
extern const RuleInfo kMultiKrumInfo;
extern const RuleInfo kNormClippingInfo;
extern const RuleInfo kPhocasInfo;
extern const RuleInfo kSafeguardInfo;
extern const RuleInfo kSelfCenteredClipInfo;
extern const RuleInfo kSignMajorityInfo;
extern const RuleInfo kSignGuardInfo;
extern const RuleInfo kSmeaInfo;
extern const RuleInfo kTrimmedMeanInfo;

extern const PreInfo kArcInfo;
extern const PreInfo kBucketingInfo;
extern const PreInfo kClippingInfo;
extern const PreInfo kNnmInfo;
extern const PreInfo kWorkerMomentumInfo;

// Parameters that several entries share.
inline constexpr ParameterInfo kFaults = {.name = "f",
                                          .type = ValueType::kInteger,
                                          .meaning = "Byzantine rows to tolerate",
                                          .default_kind = Default::kRequired};
inline constexpr ParameterInfo kOnlyFaults[] = {kFaults};

inline constexpr Choice kMedians[] = {
    {"midpoint", "halfway between the two middle values where n is even"},
    {"lower", "the lower of the two, as torch.median and what is built on it"}};
constexpr ParameterInfo MedianParameter(std::string_view name) {
  return {.name = name,
          .type = ValueType::kChoice,
          .meaning = "what the median of an even number is",
          .default_kind = Default::kValue,
          .default_text = "midpoint",
          .choices = kMedians};
}

// Limits that several entries share: f < n / 2, and any f < n.
std::optional<std::size_t> MinorityLimit(std::size_t n, const Parameters& parameters);
std::optional<std::size_t> AnyLimit(std::size_t n, const Parameters& parameters);

}  // namespace ostraka::aggregation
