// The step in progress, from one member's point of view: collect (seal A), reveal (seal B), prove
// (seal C), settle, update. It owns the components of the step and takes as many transitions as the
// sealed and received data allow.
//
//   COMMIT + PARTs -> AGG + RESULT -> seal A -> REVEAL -> seal B -> PROOF -> seal C -> block ->
//   state
//
// Promises:
//   T1  A transition depends on the seals, on the messages that they name, and on deadlines alone.
//       Exceptions: a failed job halts this member, and a state root of its own that differs from
//       the sealed one makes it leave.
//   T2  The stages follow each other as stage.h allows. Step enters kReveal to kUpdate itself; what
//       follows the step, and every way out of it, is an Outcome for the member: kLeave (T3, a
//       drop, a false state), kHalt (a ban, a failed job, no member left to reveal a coin).
//   T3  A member that a seal shows absent, and that is muted, leaves: nobody listens to it in this
//       step.
//
// May not know: links and forks (it passes `refused` and `forks` through), catching up, or how
// messages were let in.
//
// Memory: that of its components, three models' sizes at most (the parts of the own gradient, the
// parts of the own column, the results).
//
// What an attacker can do here: see the components' own headers. It cannot make the step take a
// transition that the seals do not allow.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "crypto/sign.h"
#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/member_state.h"
#include "node/protocol/lasting/outcome.h"
#include "node/protocol/lasting/stage.h"
#include "node/protocol/step/asks.h"
#include "node/protocol/step/due_watch.h"
#include "node/protocol/step/proving.h"
#include "node/protocol/step/settling.h"

namespace ostraka::protocol {

class Step {
 public:
  // The step after the head. `core`, `member`, `stage` and `verifier` outlive it. `before_ended`:
  // local time at which this member saw seal C of the step before decided; empty if it did not.
  Step(Core& core, MemberState& member, StageNow& stage, crypto::Verifier& verifier,
       std::optional<Time> before_ended);
  Step(const Step&) = delete;  // its components point at each other
  Step& operator=(const Step&) = delete;
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // Opens seal A and starts the work. `refused`: links whose PARTs were refused for lack of room
  // before now.
  void Begin(const std::set<PeerId>& refused);
  // Takes the next transition if possible. Outside a step it does nothing.
  Outcome TryAdvance();

  // --- what comes ---
  // The inbox has taken in a message of this step.
  void OnAccepted(const wire::SignedEnvelope& message);
  void TakeResult(std::uint64_t column, const SharedBlob& blob) { results_.Take(column, blob); }
  // Collect: stop waiting for parts. Prove: stop waiting for results and exhibits.
  void OnBulkTimer();
  void OnPullTimer();
  void OnProofTimer() { proving_.EndWait(); }
  bool Owns(JobId id) const;
  Outcome OnJob(JobId id, const JobDesk::Job& job, const JobResult& result);
  // After a restart, when the own messages of the step have been taken in.
  void SendResultAgain() { column_.SendResultAgain(); }
  // For what concerns the open seal alone: its timers, odd messages, vectors.
  Sealing& sealing() { return sealing_; }

  // --- what others read ---
  const StepFacts& facts() const { return facts_; }
  std::uint64_t number() const { return facts_.number(); }
  const Sealing& sealing() const { return sealing_; }
  const DisputedPairs& pairs() const { return pairs_; }
  const OwnColumn& column() const { return column_; }
  const Results& results() const { return results_; }
  // When seal C was decided here.
  std::optional<Time> ended() const { return ended_; }
  // Aborts unless the open seal and the running update are those of the stage (T2), and if a
  // component's own invariant is broken.
  void CheckInvariants() const;

 private:
  void OpenSeal(wire::Phase phase, std::uint32_t draw, base::Duration deadline);
  Outcome TrySealA();
  Outcome TakeSealA();
  void OpenSealB();
  void SayReveal();
  Outcome TrySealB();
  void BeginProve();
  Outcome TrySealC();
  Outcome TakeSealC();
  Outcome TrySettle();
  SealedMessages TakeSealed();
  Digest CloseSeal();
  void MuteAbsent();
  bool muted() const { return facts_.muted.contains(core_.self); }
  void SetBulkTimer(Time from);
  void KeepUnreadable();
  void ProveFalseReveals();
  std::vector<base::SharedBytes> SealedCommits() const;

  Core& core_;
  MemberState& member_;
  StageNow& stage_;
  crypto::Verifier& verifier_;  // of evidence that PROOFs carry
  StepFacts facts_;
  std::optional<Time> before_ended_, ended_;
  StepClock clock_;
  PullTimer pull_;
  DisputedPairs pairs_;
  OwnGradient gradient_;
  OwnColumn column_;
  Results results_;
  Sealing sealing_;
  DueWatch due_;
  Asks asks_;
  Proving proving_;
  Settling settling_;
};

}  // namespace ostraka::protocol
