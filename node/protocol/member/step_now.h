// The step that a member is in, or was in last. There is one whenever the stage is one of a step,
// so nobody has to ask for both.
//
// Promises:
//   W1  While in(), there is a step, and only then it is handed out. [C]
//
// May not know: what a step does.
//
// Memory: one step.
//
// What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "node/base/check.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/step/step.h"

namespace ostraka::protocol {

class StepNow {
 public:
  explicit StepNow(const StageNow& stage) : stage_(stage) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, step_); }
  friend struct FingerprintProbe;

  bool in() const { return stage_.in_step(); }
  bool in(std::uint64_t number) const { return in() && step_->number() == number; }
  // REQUIRES: in().
  Step& step() {
    OSTRAKA_CHECK(in());
    return *step_;
  }
  const Step& step() const {
    OSTRAKA_CHECK(in());
    return *step_;
  }

  // --- for the member alone ---
  // The stage enters the step next.
  Step& Begin(std::unique_ptr<Step> step) {
    step_ = std::move(step);
    return *step_;
  }
  // The stage has left the step, or does so next. REQUIRES: nothing of it is in use.
  void Drop() { step_.reset(); }
  // The step, or the last one after its stage: its timers may still fire, its jobs come back, and a
  // member that lingers takes in COMMITs. Null: there was none since the last Drop.
  Step* last() { return step_.get(); }
  // When seal C of the last step was decided here, if there was one.
  std::optional<Time> ended() const { return step_ ? step_->ended() : std::nullopt; }
  void CheckInvariants() const {
    OSTRAKA_CHECK(!in() || step_ != nullptr);  // W1
    if (step_ != nullptr) step_->CheckInvariants();
  }

 private:
  const StageNow& stage_;
  std::unique_ptr<Step> step_;
};

}  // namespace ostraka::protocol
