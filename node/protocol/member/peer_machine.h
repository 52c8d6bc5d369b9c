// One member of a protected run. It owns the parts of the member and the stage, hands each input to
// the class that it is for, and does what that class says should happen next (outcome.h).
//
//   input -> intake -> inbox -> step | beginning | follower | ending -> outcome -> next stage
//
// Flow: every input changes the inbox or one class, and then Advance() takes as many transitions as
// the sealed and received data allow. Nothing is decided anywhere else. Own messages come back
// through the same inbox once they are durable.
//
// Promises:
//   P1  The stage changes as stage.h allows. A member in a step is a member of the last block, but
//       for the update of the one that drops it.
//   P2  A seal is open exactly while the member collects, reveals or proves.
//   P3  A frozen member signs nothing more, and neither does one that halts on a failure or a fork.
//       A finished or banned member signs what waits for its store, and nothing new.
//
// Memory: that of its parts.
//
// What an attacker can do here: see intake.h.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <string>

#include "crypto/hash_into.h"
#include "node/protocol/member/beginning.h"
#include "node/protocol/member/components.h"
#include "node/protocol/member/ending.h"
#include "node/protocol/member/follower.h"
#include "node/protocol/member/forks.h"
#include "node/protocol/member/intake.h"
#include "node/protocol/member/step_now.h"

namespace ostraka::protocol {

class PeerMachine final : public Machine {
 public:
  explicit PeerMachine(PeerOptions options);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  void Step(Time now, const Input& input, Outbox& out) override;
  void CheckInvariants() const override;
  Digest Fingerprint() const override;
  Progress progress() const override;

 private:
  // --- inputs ---
  void On(const Started& input);
  void On(const MessageReceived& input);
  void On(const LinkChanged& input);
  void On(const TimerFired& input);
  void On(const JobDone& input);
  void On(const Stored& input);
  void On(const Told& input) { components_.voice.wishes().Tell(input); }
  void OnDutyJob(const JobDone& input, const JobDesk::Job& job);
  void Advance();
  bool TryAdvance();

  void TakeOwn();
  void TakeIn(const wire::SharedMessage& own, SharedBlob blob);

  // --- what happens to the member ---
  bool Do(const Outcome& outcome);  // true: there may be another transition
  void BeginStep();   // from the genesis, from the step before, or back from an absence
  void ResumeStep();  // the first one after a restart
  void Leave(const std::string& reason, bool trust_state);
  void CancelStepTimers() const;
  void Finish();
  void Freeze();
  void Halt(Halted::Why why, const std::string& reason);

  std::shared_ptr<crypto::Verifier>
      verifier_;  // before components_, which takes it from the options
  Components components_;
  StepNow step_{components_.stage};
  Forks forks_;
  Follower follower_;
  Beginning beginning_;
  Ending ending_;
  Intake intake_;
  bool resends_ = true;  // false: halted without having said what the peers need
};

}  // namespace ostraka::protocol
