// Every attack by name: the attacks that `ostraka sim`, `swarm` and `node --attack` offer. Attacks
// on gradients come from aggregation/attacks/attacks.h.
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
#include "node/protocol/mail/post.h"
#include "sim/adversary/coven.h"

namespace ostraka::sim {

// Parameters of an attack by name, as text from the user.
using AttackParams = std::map<std::string, std::string>;

struct KnownAttack {
  // The protocol's promise if at most t_s peers mount this attack.
  enum class Outcome {
    kRemoved,        // an attacker is removed after its first misdeed
    kRemovedInTime,  // an attacker that continues is removed, once a validator is drawn for it
    kContained,      // nothing false enters the model and no honest member is removed
  };
  std::string name;
  std::string summary;                             // one line
  std::vector<aggregation::ParameterInfo> params;  // of attacks on the protocol; numbers
  Outcome outcome = Outcome::kRemoved;             // with default parameters
  // One line: the rule that removes the attackers, or why the promise is only to contain them.
  std::string ending = {};
  // The outcome instead, if the parameter of this name is not zero.
  std::map<std::string, Outcome> outcome_if = {};
  // Further parameter values that swarm testing tries.
  std::map<std::string, std::vector<std::string>> variants = {};
  // Name of the parameter that is a script (sim/script/script.h) instead of a number; empty: none.
  std::string text = {};
  // Set for attacks on gradients, whose parameters and formula it describes.
  const aggregation::AttackInfo* gradient = nullptr;
  // The attack is only contained if the parameter of this name is at most so much.
  std::map<std::string, double> contained_up_to = {};
  // It is about keys that come, go or are away: swarm testing draws it only where attackers come in
  // from outside (sim/setup/swarm_draw.h).
  bool of_guests = false;
};

// "none" first, then attacks on gradients, then attacks on the protocol.
const std::vector<KnownAttack>& KnownAttacks();

// InvalidArgument for an unknown name; the text lists the known ones.
base::StatusOr<KnownAttack> FindAttack(std::string_view name);

// InvalidArgument for an unknown parameter (the text lists the known ones) or a value outside its
// range.
base::Status CheckParams(const KnownAttack& attack, const AttackParams& given);

// The outcome with these parameters. REQUIRES: CheckParams is ok.
KnownAttack::Outcome OutcomeOf(const KnownAttack& attack, const AttackParams& given);

// The numbers of an attack on the protocol, with the defaults of those not given. REQUIRES:
// CheckParams is ok.
std::map<std::string, double> NumbersOf(const KnownAttack& attack, const AttackParams& given);

// True if the attack is on work (aggregation::Knowledge::kWork), so that it needs a trainer of its
// own. False for an unknown name.
bool IsOnWork(std::string_view name);

// The arguments of MakeAdversary.
struct AdversaryOptions {
  std::string name;                    // one of KnownAttacks()
  AttackParams params;                 // override the attack's defaults
  std::uint64_t attack_from_step = 0;  // honest in the steps before
  std::shared_ptr<const protocol::Manifest> manifest;
  std::shared_ptr<const crypto::SigningKey> key;  // the attacker's key
  base::TensorLayout layout;
  std::shared_ptr<Coven> coven;
  // Makes a second honest machine, not started. Without it two_faced is honest.
  std::function<std::unique_ptr<protocol::Machine>()> another = {};
  // What an attack that IsOnWork names does in place of what is owed
  // (sim/attacks/results/other_work.h). Called in the machine's Step.
  protocol::GradientFunction other_work = {};
  // The block after which the machine inside begins, if it does not route what it sends
  // (PeerOptions::routes): carriers get it after the attack has changed it. Null: it routes itself.
  std::shared_ptr<const wire::Block> routed_from = nullptr;
};

// True for the attack whose machine is to declare the opposite of what the run says of it
// (Told::only_dials).
bool FlipsReach(std::string_view name);

// True for the attacks that consist in when their machines leave and come back
// (sim/setup/travels.h). A real node that plays one leaves nothing by itself.
bool ComesAndGoes(std::string_view name);
// True for the attack whose intruders never become members, so that any number of them are borne.
bool StaysOutside(std::string_view name);
// Of those that come and go, true for the one whose intruders take turns.
bool TakesTurns(std::string_view name);

// The same for the simulator and for `ostraka node --attack`. InvalidArgument for a name or
// parameter that is not known, listing those that are. FailedPrecondition if `other_work` is
// empty and the attack needs it.
base::StatusOr<std::unique_ptr<protocol::Machine>> MakeAdversary(
    AdversaryOptions options, std::unique_ptr<protocol::Machine> inside);

}  // namespace ostraka::sim
