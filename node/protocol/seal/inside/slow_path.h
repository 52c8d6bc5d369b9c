// The slow path at one member, apart from its schedule: what it takes from others in the
// iterations, and what it sends in each of the four steps (docs/seal.md, 4).
//
//   STATUS   the own lock, or rank 0 and the value that it echoed
//   PROPOSE  the leader alone: the highest certified lock; with none, a value by seal_proposal.h
//   VOTE     for the one proposal that came, if it is valid
//   LOCK     for that proposal, if Q VOTEs for it came
//
// Promises:
//   P1  The lock changes only when an iteration begins (to the highest certified lock), when LOCK
//       is sent, and by own frames from before a restart. Rationale: so voters are bound only by
//       locks that the leader could hear of in STATUS; a certificate that a liar hides until
//       PROPOSE spoils nothing.
//   P2  VOTE and LOCK are sent only for an iteration's single proposal. With a second one others
//       may have voted for that.
//   P3  VOTE is never sent for a proposal of a lower rank than the own lock's, nor LOCK for a lower
//       rank.
//   P4  Frames are taken of iterations in the window (window.h) alone, but for ballots that a lock
//       may rest on, and LOCKs. [C: R2 to R4 of SealRounds, C1 and C5 of SealCertificates]
//
// May not know: time, what has been sent before, whether the seal is decided. The owner says which
// iteration is the present one (`current`), calls each step at most once in an iteration, and
// signs.
//
// Memory: SealRounds and SealCertificates.
//
// What an attacker can do here: void an iteration that it leads; make members keep and ask for the
// ballots of a lock that does not exist, for two iterations.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/inside/certificates.h"
#include "node/protocol/seal/inside/rounds.h"
#include "node/protocol/seal/inside/setup.h"
#include "node/protocol/seal/inside/values.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealSlowPath {
 public:
  // REQUIRES: `setup` outlives this object.
  explicit SealSlowPath(const SealSetup& setup);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- messages: verified, of unmuted members, of any iteration ---
  // Of kStatus, kPropose, kVote or kLock. True iff `sender` was not in that iteration before.
  bool NoteReached(const PeerId& sender, std::uint32_t iteration);
  struct StatusTaken {
    bool claims_lock = false;  // of the present iteration: its certificate may be lacking
    std::vector<base::SharedBytes> rivals;  // the sender is found two-faced: both, to show to all
  };
  StatusTaken OnStatus(const wire::SignedEnvelope& message, std::uint32_t current);
  // The proposal, if it is kept and of the present iteration; else null.
  const wire::Propose* OnPropose(const wire::SignedEnvelope& message, std::uint32_t current);
  void OnVote(const wire::SignedEnvelope& message, std::uint32_t current);
  // True iff it is new and in the window.
  bool OnLock(const wire::SignedEnvelope& message, std::uint32_t current);
  // An own frame, maybe from before a restart: its lock binds this member.
  void Recall(const wire::SignedEnvelope& own, std::uint32_t current);
  void AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame);
  // This member echoed `value`, so a lock may come to rest on ECHOs for it.
  void NameOwnEcho(const Digest& value);

  // --- steps of iteration `current` ---
  // Forgets what is not of use in `current` or later. Call it whenever the present iteration
  // changes; BeginIteration includes it.
  void MoveTo(std::uint32_t current);
  // Adopts the highest certified lock. `echoed`: the value of the own ECHO, or zero.
  wire::SealStatus BeginIteration(std::uint32_t current, const Digest& echoed);
  struct Proposal {
    wire::Propose body;
    std::optional<SealVector> merged;  // the vector of a merge: a new value
  };
  // What this member proposes as the leader; nullopt if too few STATUSes came, or the highest lock
  // is of this iteration or later.
  std::optional<Proposal> Propose(std::uint32_t current, const SealValues& values) const;
  // The proposal that this member votes for; null if it may not vote, and Refusal says why.
  // `own_vector`: what a merge must not leave out; nullopt if this member does not know it any
  // more.
  const ProposeSeen* Vote(std::uint32_t current, const SealValues& values,
                          const std::optional<SealVector>& own_vector);
  std::optional<wire::Lock> LockIn(std::uint32_t current);

  // --- reads ---
  const SealCertificates& certificates() const { return certificates_; }
  const SealRounds& rounds() const { return rounds_; }
  // All frames that are held of kEcho, kStatus, kPropose, kVote or kLock.
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  // Of its parts; aborts if one is broken.
  void CheckInvariants(std::uint32_t current) const;

 private:
  // Empty if this member may vote for `propose`; else the reason, for people.
  std::string FaultOf(const wire::Propose& propose, std::uint32_t current, const SealValues& values,
                      const std::optional<SealVector>& own_vector) const;

  const SealSetup& setup_;
  SealCertificates certificates_;
  SealRounds rounds_;
};

}  // namespace ostraka::protocol
