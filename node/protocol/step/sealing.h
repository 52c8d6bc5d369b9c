// The seals of one step, one after the other: each is opened, fed from the inbox, and closed when
// it has decided. What it decided is kept for members that are stuck in it (past_seals.h) and to
// see a fork (fork_watch.h).
//
// Promises:
//   S1  At most one seal is open. Its entries are those of its phase and draw.
//   S2  The seal gets each message of its slots that names its parent, and no other.
//   S3  A decided seal is closed once; its certificate and its messages are kept then.
//   S4  Nothing that only this member knows ends or begins a wait: the deadline, the completeness
//       of the phase, and what the seal says.
//
// May not know: training, the stage, or what follows from a decision.
//
// Memory: one Seal (seal.h), its messages (SealTranscript), and a count for each link.
//
// What an attacker can do here: send ballots of past iterations and third versions of messages, as
// many as a link may bring (TakeOdd).
//
// Thread safety: none; one owner.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node/protocol/mail/pull_timer.h"
#include "node/protocol/mail/voice.h"
#include "node/protocol/parts/past_seals.h"
#include "node/protocol/parts/reports.h"
#include "node/protocol/step/entries.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

class Sealing {
 public:
  struct Uses {
    PeerId self;
    std::shared_ptr<const Manifest> manifest;
    const Turn* turn;
    Voice* voice;
    const Journal* journal;
    const Chain* chain;
    Inbox* inbox;
    Charges* charges;
    Reports* reports;
    ForkWatch* forks;
    PastSeals* past_seals;
    PullTimer* pull;
  };
  Sealing(Uses uses, const StepFacts* facts) : uses_(std::move(uses)), facts_(facts) {}
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, seal_, entries_, slot_, overdue_, transcript_, odd_);
  }
  friend struct FingerprintProbe;

  // --- one seal ---
  // Opens the seal of `phase` and `draw`, whose deadline is `deadline` from now, and hands it what
  // is held already. `step_before_ended`: when seal C of the step before was decided here.
  // REQUIRES: none is open.
  void Open(wire::Phase phase, std::uint32_t draw, base::Duration deadline,
            std::optional<Time> step_before_ended);
  bool open() const { return seal_ != nullptr; }
  // Echoes once `complete`; true when the seal has decided. REQUIRES: open.
  bool Drive(bool complete);
  // The decision leaves this member's measurements: before anything else is made of it. Rationale:
  // a member that is absent has no place among the entries any more, and a vector that names it
  // would count as never shown [each honest member that had echoed such an entry was dropped].
  void TakeWatches();
  // Keeps what the seal decided. Returns the decision's digest. REQUIRES: decided.
  Digest Close();
  // The step is left; the driver's timers are the caller's to cancel.
  void Drop() { seal_.reset(); }

  // --- what comes ---
  // A message that the inbox has taken in.
  void OnAccepted(const wire::SignedEnvelope& message);
  // A verified message of this seal that the inbox does not keep: a lock may rest on it.
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

  // --- what others may ask, or read. REQUIRES: open, but for IsFor ---
  bool IsFor(const wire::Slot& slot) const;         // open, and of this step, phase and draw
  const wire::Slot& slot() const { return slot_; }  // of its ECHOs
  const Seal& seal() const { return *seal_; }
  Entries& entries() { return *entries_; }
  const Entries& entries() const { return *entries_; }
  // Others may have left this seal: to help a late member takes less than this. A member that was
  // dropped meanwhile is helped by nobody.
  bool IsStuck() const;
  void CheckInvariants() const;  // aborts if S1 is broken

 private:
  bool WaitsForLastCoin() const;
  void WatchEchoes(base::Duration deadline, std::optional<Time> step_before_ended);
  void FeedHeld(wire::Phase phase, std::uint32_t draw);
  void Feed(const wire::SignedEnvelope& message);
  void Perform(SealOutput output);
  void Say(std::vector<SealSay> say);
  void TellSlow(std::uint32_t iteration) const;
  bool IsShown(const Digest& value) const;
  std::uint64_t step() const { return slot_.step; }

  Uses uses_;
  const StepFacts* facts_;
  std::unique_ptr<Seal> seal_;
  std::optional<Entries> entries_;
  wire::Slot slot_;
  bool overdue_ = false;  // the last coin of the step
  SealTranscript transcript_;
  std::map<PeerId, std::size_t> odd_;  // by link: OnOdd
};

}  // namespace ostraka::protocol
