// Calls of an adversary whose editor does what a test says: for parts of editors that need a
// EditorTurn.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/adversary/adversary.h"
#include "tests/unit/sim/adversary/wrapped.h"

namespace ostraka::sim {

// The adversary has key number 1 and one friend.
class OneTurn {
 public:
  using Body = std::function<void(EditorTurn&)>;

  // The actions of one call at `now`, in which the editor does `body`.
  std::vector<protocol::Action> Run(std::int64_t now, Body body) {
    *body_ = std::move(body);
    protocol::Outbox out;
    machine_.Step({now}, protocol::TimerFired{1}, out);
    return std::move(out.actions());
  }
  // The machine inside begins that step, with so many workers.
  void Begin(std::uint64_t step, std::uint8_t workers) {
    protocol::StepStarted started;
    started.step = step;
    for (std::uint8_t i = 0; i < workers; ++i) {
      started.roles.workers.push_back(PeerNumber(static_cast<std::uint8_t>(i + 1)));
    }
    says_->push_back(protocol::Observe{started});
    Run(0, [](EditorTurn& turn) { turn.Deliver(protocol::TimerFired{2}); });
  }
  const std::shared_ptr<const crypto::SigningKey>& key() const { return key_; }
  bool HasConfessed() const { return coven_->deeds().contains(key_->id()); }

 private:
  class Obedient final : public Editor {
   public:
    explicit Obedient(std::shared_ptr<Body> body) : body_(std::move(body)) {}
    void OnInput(EditorTurn& turn, protocol::Input) override { (*body_)(turn); }

   private:
    std::shared_ptr<Body> body_;
  };

  std::shared_ptr<const crypto::SigningKey> key_ = KeyNumber(1);
  std::shared_ptr<Coven> coven_ =
      std::make_shared<Coven>(std::vector<base::PeerId>{key_->id(), KeyNumber(2)->id()}, 7);
  std::shared_ptr<Body> body_ = std::make_shared<Body>();
  std::shared_ptr<std::vector<protocol::Action>> says_ =
      std::make_shared<std::vector<protocol::Action>>();
  AdversarialMachine machine_{
      key_->id(),
      std::make_unique<ScriptedMachine>(
          [says = says_](base::Time, const protocol::Input&, protocol::Outbox& out) {
            for (protocol::Action& action : std::exchange(*says, {})) out.Add(std::move(action));
          }),
      std::make_unique<Obedient>(body_), coven_};
};

}  // namespace ostraka::sim
