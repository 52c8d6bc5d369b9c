#include "aggregation/attacks/attacks.h"

#include <string>

#include "aggregation/attacks/attack_entries.h"
#include "aggregation/shared/byzfl_names.h"
#include "node/base/check.h"
#include "node/base/suggest.h"

namespace ostraka::aggregation {
namespace {

std::string Who(const AttackInfo& attack) { return "attack " + std::string(attack.name); }

base::Status CheckView(const AttackInfo& attack, const AttackView& view) {
  if (attack.knowledge == Knowledge::kWork) {
    return base::FailedPrecondition(Who(attack) + " needs a trainer: it is no attack on vectors");
  }
  if (view.byzantine_count == 0) return base::InvalidArgument(Who(attack) + ": nobody attacks");
  if (attack.knowledge == Knowledge::kOwn) {
    if (view.own.empty()) return base::InvalidArgument("the attacker's own gradient is empty");
    if (view.layout != nullptr && base::ElementCount(*view.layout) != view.own.size()) {
      return base::InvalidArgument("the layout does not match the attacker's own gradient");
    }
    return base::OkStatus();
  }
  RETURN_IF_ERROR(CheckRows(view.honest, SerialExecutor()));
  if (view.honest.dimension != (view.own.empty() ? view.honest.dimension : view.own.size())) {
    return base::InvalidArgument("honest gradients differ in length from the attacker's own");
  }
  if (attack.knowledge == Knowledge::kRule && view.victim == nullptr) {
    return base::InvalidArgument(Who(attack) + " needs to know the rule that it is to break");
  }
  return base::OkStatus();
}

}  // namespace

std::string_view KnowledgeName(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::kWork:
      return "work";
    case Knowledge::kOwn:
      return "own";
    case Knowledge::kHonest:
      return "honest";
    case Knowledge::kRule:
      return "rule";
  }
  OSTRAKA_CHECK(false);
}

std::span<const AttackInfo* const> Attacks() {
  static constexpr const AttackInfo* kAttacks[] = {
      &kAlieInfo,
      &kAntiCgeInfo,
      &kAscentInfo,
      &kBitFlipInfo,
      &kDelayedInfo,
      &kFangInfo,
      &kGaussianInfo,
      &kHugeInfo,
      &kInfInfo,
      &kIpmInfo,
      &kLabelFlipInfo,
      &kMimicInfo,
      &kMinMaxInfo,
      &kMinSumInfo,
      &kNanInfo,
      &kNoneInfo,
      &kOptAlieInfo,
      &kOptCoordinateInfo,
      &kOptFangInfo,
      &kOptIpmInfo,
      &kOptMinMaxInfo,
      &kOptMinSumInfo,
      &kRandomDirectionInfo,
      &kReplacementInfo,
      &kRopInfo,
      &kSignFlipInfo,
      &kSignHistogramInfo,
      &kSkipInnerInfo,
      &kUniformInfo,
      &kWrongLengthInfo,
  };
  return kAttacks;
}

const AttackInfo* FindAttack(std::string_view name) {
  for (const AttackInfo* attack : Attacks()) {
    if (attack->name == name) return attack;
  }
  return nullptr;
}

base::StatusOr<Attack> MakeAttack(std::string_view name, const Arguments& given) {
  const AttackInfo* info = FindAttack(name);
  if (info == nullptr) {
    std::vector<std::string> known;
    for (const AttackInfo* attack : Attacks()) known.emplace_back(attack->name);
    const std::string hint = ByzflHint(name);
    return base::InvalidArgument("unknown attack '" + std::string(name) + "'" +
                                 (hint.empty() ? base::SuggestionFor(name, known) : hint));
  }
  Attack attack{info, {}};
  ASSIGN_OR_RETURN(attack.parameters, ParseParameters(Who(*info), info->parameters, given));
  return attack;
}

base::StatusOr<std::vector<float>> ApplyAttack(const Attack& attack, const AttackView& view) {
  RETURN_IF_ERROR(CheckView(*attack.info, view));
  return attack.info->apply(attack.parameters, view);
}

}  // namespace ostraka::aggregation
