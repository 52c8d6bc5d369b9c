// The seals of one step, one after the other: each is opened, fed from the inbox, and closed when
// it has decided. What it decided is kept for members that are stuck in it (past_seals.h) and to
// see a fork (fork_watch.h).
//
// Promises:
//   S1  At most one seal is open. Its entries are those of its phase and draw.
//   S2  The seal is fed each message of its slots that names its parent, and no other. Answers to
//       its requests for a vector come apart (OnVector).
//   S3  A decided seal is closed once. Its certificate is always kept, its messages only if the
//       slow path ran.
//   S4  A wait ends by the deadline, by completeness of the phase, or by what the seal says; never
//       by knowledge that only this member has. Exception: the last possible coin of a step is
//       waited for without a deadline.
//
// May not know: training, the stage, or what follows from a decision.
//
// Memory: one Seal (seal.h), its messages (SealTranscript), and a count for each link.
//
// What an attacker can do here: send extra messages (votes of past iterations, third and later
// versions of a message), up to a quota for each link (TakeOdd).
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node/protocol/lasting/core.h"
#include "node/protocol/lasting/past_seals.h"
#include "node/protocol/lasting/reports.h"
#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/step/entries.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Sealing {
 public:
  Sealing(Core& core, Charges& charges, Reports& reports, ForkWatch& forks, PastSeals& past_seals,
          PullTimer& pull, const StepFacts& facts)
      : core_(core),
        charges_(charges),
        reports_(reports),
        forks_(forks),
        past_seals_(past_seals),
        pull_(pull),
        facts_(facts) {}
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- one seal ---
  // Opens the seal of `phase` and `draw`, whose deadline is `deadline` from now, and hands it what
  // is held already. `step_before_ended`: when seal C of the step before was decided here; used in
  // phase A only. REQUIRES: none is open; the parent of the phase is known.
  void Open(wire::Phase phase, std::uint32_t draw, base::Duration deadline,
            std::optional<Time> step_before_ended);
  bool open() const { return seal_ != nullptr; }
  // Echoes once `complete`; true when the seal has decided. REQUIRES: open.
  bool Drive(bool complete);
  // Turns what was measured during this seal into reports. REQUIRES: decided; before StepFacts
  // takes the decision in, and before Close. Rationale: once a member counts as absent, Entries has
  // no place for it, so honest ECHOs that name it would look false [each honest member that had
  // echoed such an entry was dropped].
  void TakeWatches();
  // Stores the decision and ends the seal. Returns the decision's digest. REQUIRES: decided;
  // StepFacts has read it, and still has the seal's parent and the members that were muted while it
  // ran.
  Digest Close();
  // Forgets the seal because the member leaves the step. The caller cancels the timers.
  void Drop() { seal_.reset(); }

  // --- what comes ---
  // A message that the inbox has taken in.
  void OnAccepted(const wire::SignedEnvelope& message);
  // A verified message that the inbox does not keep but a lock may need. The caller has asked
  // TakeOdd before it verified the message.
  void OnOdd(const wire::SignedEnvelope& message) { Feed(message); }
  // False: `from` has brought as many such messages as one link may bring in a seal.
  bool TakeOdd(const PeerId& from);
  // The inbox holds the message, and the seal, which is open and of which it is, does not: it saw
  // no use for it when it came. Now a lock may rest on it. [A rival ballot that came before the
  // lock that rests on it was lost to the seal: the inbox took it for a duplicate whenever it came
  // again.]
  bool IsPassedOver(const wire::SignedEnvelope& message) const;
  // REQUIRES: IsPassedOver. What was verified counts: the message that the inbox holds.
  void OnPassedOver(const wire::SignedEnvelope& message);
  void OnVector(const wire::Slot& slot, const wire::Vector& vector);
  void OnEchoTimer();
  void OnSealTimer();

  // --- what others may ask, or read. REQUIRES: open, but for IsFor and IsStuck ---
  bool IsFor(const wire::Slot& slot) const;         // open, and of this step, phase and draw
  const wire::Slot& slot() const { return slot_; }  // of its ECHOs
  const Seal& seal() const;
  Entries& entries();
  const Entries& entries() const;
  // True if the others may have finished this seal without this member: the last coin is overdue,
  // three iterations have passed, or nobody else takes part. They would help a member that is
  // merely late; they do not help a member that was dropped. False if no seal is open.
  bool IsStuck() const;
  void CheckInvariants() const;  // aborts if the open seal is not of the step's present draw (S1)

 private:
  const Digest& LeaderSeed() const;
  bool WaitsForLastCoin() const;
  void WatchEchoes(base::Duration deadline, std::optional<Time> step_before_ended);
  void FeedHeld(wire::Phase phase, std::uint32_t draw);
  void Feed(const wire::SignedEnvelope& message);
  void Perform(SealOutput output);
  void Say(std::vector<SealSay> say);
  void TellSlow(std::uint32_t iteration) const;
  bool IsShown(const Digest& value) const;
  std::uint64_t step() const { return slot_.step; }

  Core& core_;
  Charges& charges_;
  Reports& reports_;
  ForkWatch& forks_;
  PastSeals& past_seals_;
  PullTimer& pull_;
  const StepFacts& facts_;
  std::unique_ptr<Seal> seal_;
  std::optional<Entries> entries_;
  wire::Slot slot_;
  bool overdue_ = false;  // the last coin of the step
  SealTranscript transcript_;
  std::map<PeerId, std::size_t> odd_;  // count by link, for TakeOdd
};

}  // namespace ostraka::protocol
