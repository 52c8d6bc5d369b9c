// The entries of the attack table, by the knowledge that they need. Internal to aggregation.
#pragma once

#include <limits>

#include "aggregation/attacks/attacks.h"
#include "node/base/rng.h"

namespace ostraka::aggregation {

// The bound of a parameter that has none; its negation is the lower one.
inline constexpr double kAny = std::numeric_limits<double>::infinity();

// The generator of one attacker in one step.
inline base::Rng RngOf(std::string_view attack, const AttackView& view) {
  return base::Rng(view.seed).Fork(attack, view.step).Fork("attacker", view.attacker);
}

// The attacker's state for attacks that remember, or a fresh state that lives as long as this.
class StateOf {
 public:
  explicit StateOf(const AttackView& view) : state_(view.state == nullptr ? &fresh_ : view.state) {}
  StateOf(const StateOf&) = delete;
  StateOf& operator=(const StateOf&) = delete;
  AttackState& operator*() { return *state_; }

 private:
  AttackState fresh_;
  AttackState* state_;
};

// The directions of Shejwalkar and Houmansadr, as a parameter of attacks along them.
inline constexpr Choice kPerturbations[] = {{"std", "the deviation of every coordinate"},
                                            {"sign", "the sign of the mean"},
                                            {"unit", "the mean over its length"}};
constexpr ParameterInfo PerturbationParameter(std::string_view meaning) {
  return {.name = "perturbation",
          .type = ValueType::kChoice,
          .meaning = meaning,
          .default_kind = Default::kValue,
          .default_text = "std",
          .choices = kPerturbations};
}

// attack_entries_own.cpp
extern const AttackInfo kNoneInfo;
extern const AttackInfo kSignFlipInfo;
extern const AttackInfo kReplacementInfo;
extern const AttackInfo kRandomDirectionInfo;
extern const AttackInfo kLabelFlipInfo;
extern const AttackInfo kAscentInfo;
extern const AttackInfo kSkipInnerInfo;
extern const AttackInfo kDelayedInfo;
extern const AttackInfo kGaussianInfo;
extern const AttackInfo kUniformInfo;
extern const AttackInfo kBitFlipInfo;

// attack_entries_malformed.cpp
extern const AttackInfo kInfInfo;
extern const AttackInfo kNanInfo;
extern const AttackInfo kWrongLengthInfo;
extern const AttackInfo kHugeInfo;

// attack_entries_honest.cpp
extern const AttackInfo kAlieInfo;
extern const AttackInfo kIpmInfo;
extern const AttackInfo kMimicInfo;
extern const AttackInfo kMinMaxInfo;
extern const AttackInfo kMinSumInfo;
extern const AttackInfo kFangInfo;
extern const AttackInfo kAntiCgeInfo;
extern const AttackInfo kSignHistogramInfo;

// attack_entries_rule.cpp
extern const AttackInfo kOptAlieInfo;
extern const AttackInfo kOptIpmInfo;
extern const AttackInfo kOptFangInfo;
extern const AttackInfo kOptMinMaxInfo;
extern const AttackInfo kOptMinSumInfo;
extern const AttackInfo kOptCoordinateInfo;
extern const AttackInfo kRopInfo;

}  // namespace ostraka::aggregation
