// The step in progress, as a member lives it: collect (seal A), reveal (seal B), prove (seal C),
// settle, update. It owns the parts of the step and takes as many transitions as the sealed and
// received data allow.
//
//   COMMIT + PARTs -> AGG + RESULT -> seal A -> REVEAL -> seal B -> PROOF -> seal C -> block ->
//   state
//
// Promises:
//   T1  A transition depends on the seals, on the messages that they name, and on deadlines alone.
//   T2  The stages follow each other as stage.h allows. The step enters kReveal to kUpdate itself;
//       what follows the step, and every way out of it, is an Outcome for the member.
//   T3  A member that is sealed absent, and muted, leaves: nobody listens to it in this step.
//
// May not know: links, catching up, forks, or how messages were let in.
//
// Memory: that of its parts, two models' sizes at most.
//
// What an attacker can do here: see the parts. It cannot make the step take a transition that the
// seals do not allow.
//
// Thread safety: none; one owner.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "crypto/sign.h"
#include "node/protocol/parts/outcome.h"
#include "node/protocol/step/asks.h"
#include "node/protocol/step/due_watch.h"
#include "node/protocol/step/proving.h"
#include "node/protocol/step/settling.h"

namespace ostraka::protocol {

class Step {
 public:
  // The parts of the member that the step and its parts use. All outlive it.
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    std::shared_ptr<crypto::Verifier> verifier;  // of evidence that PROOFs carry
    base::TensorLayout layout;
    const Turn* turn;
    StageNow* stage;
    Voice* voice;
    Journal* journal;
    JobDesk* jobs;
    Chain* chain;
    Inbox* inbox;
    ChainServer* server;
    Charges* charges;
    Reports* reports;
    Duties* duties;
    DutyJobs* duty_jobs;
    Followers* followers;
    ForkWatch* forks;
    PastSeals* past_seals;
    OwnPace* pace;
  };
  // The step after the head. `before_ended`: when seal C of the step before was decided here.
  Step(const Uses& uses, const Digest& private_seed, std::optional<Time> before_ended);
  Step(const Step&) = delete;  // its parts point at each other
  Step& operator=(const Step&) = delete;
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, facts_, before_ended_, ended_, pull_, pairs_, gradient_, column_, results_,
                 sealing_, proving_, settling_);
  }
  friend struct FingerprintProbe;

  // Opens seal A and starts the work. `refused`: links whose PARTs found no room before now.
  void Begin(const std::set<PeerId>& refused);
  // One transition, if there is one. REQUIRES: the member is in the step.
  Outcome TryAdvance();

  // --- what comes ---
  // The inbox has taken in a message of this step.
  void OnAccepted(const wire::SignedEnvelope& message);
  void TakeResult(std::uint64_t column, const SharedBlob& blob) { results_.Take(column, blob); }
  void OnBulkTimer();
  void OnPullTimer();
  bool Owns(JobId id) const;
  Outcome OnJob(JobId id, const JobDesk::Job& job, const JobResult& result);
  // After a restart, when the own messages of the step have been taken in.
  void SendResultAgain() { column_.SendResultAgain(); }

  // --- what others read ---
  const StepFacts& facts() const { return facts_; }
  std::uint64_t number() const { return facts_.number(); }
  Sealing& sealing() { return sealing_; }
  const Sealing& sealing() const { return sealing_; }
  const DisputedPairs& pairs() const { return pairs_; }
  const OwnColumn& column() const { return column_; }
  const Results& results() const { return results_; }
  // When seal C was decided here.
  std::optional<Time> ended() const { return ended_; }
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
  void MuteAbsent();
  bool muted() const { return facts_.muted.contains(uses_.self); }
  void SetBulkTimer(Time from);
  void KeepUnreadable();
  void ProveFalseReveals();
  std::vector<base::SharedBytes> SealedCommits() const;

  Uses uses_;
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
