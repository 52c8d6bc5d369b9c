// Every attack by name: what `ostraka sim`, `swarm` and `node --attack` offer. Those on gradients
// are the ones of aggregation/attacks.h.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"

namespace ostraka::sim {

struct KnownAttack {
  // What the protocol promises if at most t_s peers do this.
  enum class Outcome {
    kRemoved,    // they are removed
    kContained,  // nothing they do enters the model and nobody honest is removed
  };
  std::string name;
  std::string summary;  // one line
  // Parameters and their defaults; nullopt: derived from the run.
  std::map<std::string, std::optional<double>> params;
  Outcome outcome = Outcome::kRemoved;  // with the default parameters
  // One line: by which rule they are removed, or why no more is promised than to contain them.
  std::string ending = {};
  // How it ends instead if the parameter of this name is not zero.
  std::map<std::string, Outcome> outcome_if = {};
};

// "none" first, then attacks on gradients, then on the protocol.
const std::vector<KnownAttack>& KnownAttacks();

// InvalidArgument for an unknown name, with the known ones.
base::StatusOr<KnownAttack> FindAttack(std::string_view name);

// With these parameters. REQUIRES: they are complete.
KnownAttack::Outcome OutcomeOf(const KnownAttack& attack,
                               const std::map<std::string, double>& params);

// `given`, and the defaults of the others. InvalidArgument for a parameter that the attack does not
// have, with those it has, or for one that is not finite.
base::StatusOr<std::map<std::string, double>> CompleteParams(
    const KnownAttack& attack, const std::map<std::string, double>& given);

}  // namespace ostraka::sim
