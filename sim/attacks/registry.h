// Every attack by name: what `ostraka sim`, `swarm` and `node --attack` offer. Those on gradients
// are the ones of aggregation/attacks/attacks.h.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/attacks/attacks.h"
#include "crypto/sign.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/manifest.h"
#include "sim/adversary/coven.h"

namespace ostraka::sim {

// Parameters of an attack, by name, as a user writes them.
using AttackParams = std::map<std::string, std::string>;

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
  // Its parameter that is a script (sim/script/script.h) and no number; empty: there is none.
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

// True if the attack sends gradients of flipped labels, so that it needs a trainer over them. False
// for an unknown name.
bool FlipsLabels(std::string_view name);

// What every attack is made from.
struct AdversaryOptions {
  std::string name;                    // of KnownAttacks()
  AttackParams params;                 // overrides of the attack's defaults
  std::uint64_t attack_from_step = 0;  // honest before
  std::shared_ptr<const protocol::Manifest> manifest;
  std::shared_ptr<const crypto::SigningKey> key;  // the attacker's own
  base::TensorLayout layout;
  std::shared_ptr<Coven> coven;
  // Makes an honest machine like the one inside, not started. Without it two_faced is honest.
  std::function<std::unique_ptr<protocol::Machine>()> another = {};
  // The gradients of a trainer over flipped labels (sim/attacks/results/flipped_labels.h), for
  // attacks that FlipsLabels names. Called in the machine's Step.
  protocol::GradientFunction flipped_gradients = {};
};

// The same for the simulator and for `ostraka node --attack`. InvalidArgument for a name or
// parameter that is not known, listing those that are. FailedPrecondition if `flipped_gradients` is
// empty and the attack needs it.
base::StatusOr<std::unique_ptr<protocol::Machine>> MakeAdversary(
    AdversaryOptions options, std::unique_ptr<protocol::Machine> inside);

}  // namespace ostraka::sim
