// A Byzantine peer is the honest machine with an editor on its inputs and actions.
//
//            inputs                       inputs
//   driver ---------> AdversarialMachine ---------> the honest machine inside
//          <---------      + Editor      <---------
//            actions                      actions
//
// All that the editor does not change is honest, so an attack's code is as small as its idea: a
// false number, a withheld message. The editor sees the plain values of the machine's interface and
// nothing else, as does a real attacker that controls its own node.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "node/protocol/ground/machine.h"
#include "sim/adversary/coven.h"

namespace ostraka::sim {

class AdversarialMachine;

// The knowledge and the permitted effects of an editor during one call.
class EditorTurn {
 public:
  base::Time now() const { return now_; }
  const base::PeerId& self() const;
  // The current step of the inner machine with its public data; null before the first step.
  const protocol::StepStarted* round() const;
  std::uint64_t step() const { return round() ? round()->step : 0; }
  Coven& coven() const;

  // Steps the inner machine with an input. Its actions pass through OnAction before this returns.
  void Deliver(const protocol::Input& input);
  // Hands an action to the driver.
  void Emit(protocol::Action action);
  // Starts a job of the adversary's own. Its JobDone comes to OnInput with the returned id and must
  // not be delivered to the inner machine.
  protocol::JobId StartOwnJob(protocol::JobSpec spec);
  // The spec of a running job of the inner machine; null for other ids. Valid until its JobDone is
  // delivered.
  std::shared_ptr<const protocol::JobSpec> SpecOf(protocol::JobId id) const;
  // Records that this peer departs from the protocol now, so that checkers ask whether it was
  // caught.
  void Confess();

 private:
  friend class AdversarialMachine;
  EditorTurn(AdversarialMachine& machine, base::Time now, protocol::Outbox& out)
      : machine_(machine), now_(now), out_(out) {}
  AdversarialMachine& machine_;
  base::Time now_;
  protocol::Outbox& out_;
};

// One attack. The defaults change nothing.
class Editor {
 public:
  virtual ~Editor() = default;
  virtual void OnInput(EditorTurn& turn, protocol::Input input) { turn.Deliver(input); }
  virtual void OnAction(EditorTurn& turn, protocol::Action action) { turn.Emit(std::move(action)); }
  // Digest of the editor's own state, if its behaviour depends on any.
  virtual base::Digest Fingerprint() const { return {}; }
};

// Colluders never testify against each other, whatever the editor: a job result that would accuse,
// convict or expose a member of the coven is replaced by an innocent one before the inner machine
// sees it. Results about others are unchanged, unless the editor changes them.
class AdversarialMachine final : public protocol::Machine {
 public:
  AdversarialMachine(base::PeerId self, std::unique_ptr<protocol::Machine> inside,
                     std::unique_ptr<Editor> editor, std::shared_ptr<Coven> coven);

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override;
  void CheckInvariants() const override { inside_->CheckInvariants(); }
  base::Digest Fingerprint() const override;
  protocol::Progress progress() const override { return inside_->progress(); }

 private:
  friend class EditorTurn;
  protocol::Input StandByColluders(protocol::Input input) const;
  void Note(const protocol::Action& action);  // jobs and steps that started

  base::PeerId self_;
  std::unique_ptr<protocol::Machine> inside_;
  std::unique_ptr<Editor> editor_;
  std::shared_ptr<Coven> coven_;
  std::map<protocol::JobId, std::shared_ptr<const protocol::JobSpec>>
      jobs_;  // of the machine inside
  protocol::JobId next_own_job_;
  std::optional<protocol::StepStarted> round_;
};

}  // namespace ostraka::sim
