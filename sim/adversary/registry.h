// Every attack by name: what `ostraka sim`, `swarm` and `node --attack` offer. Those on gradients
// are the ones of aggregation/attacks/attacks.h.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "node/base/status.h"
#include "sim/adversary.h"

namespace ostraka::sim {

struct KnownAttack {
  // What the protocol promises if at most t_s peers do this.
  enum class Outcome {
    kRemoved,        // whoever does it once is removed
    kRemovedInTime,  // whoever goes on is removed: a validator must be drawn for it first
    kContained,      // nothing they do enters the model and nobody honest is removed
  };
  std::string name;
  std::string summary;                             // one line
  std::vector<aggregation::ParameterInfo> params;  // of attacks on the protocol: numbers
  Outcome outcome = Outcome::kRemoved;             // with the default parameters
  // One line: by which rule they are removed, or why no more is promised than to contain them.
  std::string ending = {};
  // How it ends instead if the parameter of this name is not zero.
  std::map<std::string, Outcome> outcome_if = {};
  // Other values of its parameters that swarm testing tries.
  std::map<std::string, std::vector<std::string>> variants = {};
  // Its parameter that is a script (sim/free/script.h) and no number; empty: there is none.
  std::string text = {};
  // Of attacks on gradients: all there is to say.
  const aggregation::AttackInfo* gradient = nullptr;
};

// "none" first, then attacks on gradients, then on the protocol.
const std::vector<KnownAttack>& KnownAttacks();

// InvalidArgument for an unknown name, with the known ones.
base::StatusOr<KnownAttack> FindAttack(std::string_view name);

// InvalidArgument for a parameter that the attack does not have, with those it has, or for a value
// that it cannot take.
base::Status CheckParams(const KnownAttack& attack, const AttackParams& given);

// How it ends with these parameters. REQUIRES: CheckParams is ok.
KnownAttack::Outcome OutcomeOf(const KnownAttack& attack, const AttackParams& given);

}  // namespace ostraka::sim
