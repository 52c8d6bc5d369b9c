// A Byzantine peer is the honest machine with an editor on its inputs and actions.
//
//            inputs                       inputs
//   driver ---------> AdversarialMachine ---------> the honest machine inside
//          <---------      + Editor      <---------
//            actions                      actions
//
// Whatever the editor does not touch is honest, so an attack is as small as its idea: lie about one
// number, withhold one message. The editor sees the plain values of the seam and nothing else,
// which is all that a real attacker in control of its own node sees too.
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

// What an editor knows and may do during one call.
class Turn {
 public:
  base::Time now() const { return now_; }
  const base::PeerId& self() const;
  // The step that the machine inside is in, and what all know of it; null before the first step.
  const protocol::StepStarted* round() const;
  std::uint64_t step() const { return round() ? round()->step : 0; }
  Coven& coven() const;

  // Hands an input to the machine inside. Its actions come back through OnAction, at once.
  void Deliver(const protocol::Input& input);
  // Hands an action to the driver.
  void Emit(protocol::Action action);
  // Starts a job of the adversary's own; its JobDone comes to OnInput with the id returned here
  // and must not be delivered.
  protocol::JobId StartOwnJob(protocol::JobSpec spec);
  // The spec of a running job of the machine inside; null for other ids. Valid until delivered.
  std::shared_ptr<const protocol::JobSpec> SpecOf(protocol::JobId id) const;
  // This peer leaves the protocol now: checkers will ask whether it was caught.
  void Confess();

 private:
  friend class AdversarialMachine;
  Turn(AdversarialMachine& machine, base::Time now, protocol::Outbox& out)
      : machine_(machine), now_(now), out_(out) {}
  AdversarialMachine& machine_;
  base::Time now_;
  protocol::Outbox& out_;
};

// One attack. The defaults change nothing.
class Editor {
 public:
  virtual ~Editor() = default;
  virtual void OnInput(Turn& turn, protocol::Input input) { turn.Deliver(input); }
  virtual void OnAction(Turn& turn, protocol::Action action) { turn.Emit(std::move(action)); }
  // Of the editor's own state, if that decides what it will do.
  virtual base::Digest Fingerprint() const { return {}; }
};

// Colluders stand by each other whatever the editor: results that would accuse, convict or expose a
// member of the coven are made innocent before the machine inside sees them. About others it tells
// the truth, unless the editor lies.
class AdversarialMachine final : public protocol::Machine {
 public:
  AdversarialMachine(base::PeerId self, std::unique_ptr<protocol::Machine> inside,
                     std::unique_ptr<Editor> editor, std::shared_ptr<Coven> coven);

  void Step(base::Time now, const protocol::Input& input, protocol::Outbox& out) override;
  void CheckInvariants() const override { inside_->CheckInvariants(); }
  base::Digest Fingerprint() const override;
  protocol::Progress progress() const override { return inside_->progress(); }

 private:
  friend class Turn;
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
