// What the members have sent in iterations of the slow path, apart from their ballots: the latest
// iteration of each, and the STATUSes and PROPOSEs of those near the present one (docs/seal.md, 4).
//
// Promises [C: CHECKed by CheckInvariants]:
//   R1  The latest iteration of a member never falls.
//   R2  An iteration has at most two proposals, with different digests, all by one leader. [C]
//       Rationale: a second one voids the iteration, a third says nothing new.
//   R3  An iteration has at most two STATUSes of a member, with different digests. [C: by Statuses]
//   R4  STATUSes and proposals are of iterations in the window (window.h) alone. [C]
//
// May not know: locks, vectors, time, and (it is told, and does not keep it) which iteration is the
// present one. The owner lets in unmuted members, iterations in the window and proposals of the
// leader.
//
// Memory: two STATUSes of each member and two proposals for each iteration in the window; one
// number for each member, however far ahead it claims to be.
//
// What an attacker can do here: claim to be in any iteration; what that moves is bounded by
// ReachedByMoreThan. Void an iteration that it leads, by two proposals. Make itself two-faced.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_proposal.h"
#include "node/wire/hash_into.h"

namespace ostraka::protocol {

struct ProposeSeen {
  PeerId leader;
  wire::Propose body;
  Digest digest;
  base::SharedBytes frame;
  void HashInto(crypto::Hasher& hasher) const;
};

class SealRounds {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // --- how far the members are ---
  // True iff `sender` was not in that iteration before.
  bool NoteReached(const PeerId& sender, std::uint32_t iteration);
  // The latest iteration in which `member` sent a message; 0 if it sent none.
  std::uint32_t ReachedBy(const PeerId& member) const;
  // The latest iteration that more than `count` members have reached, not counting `self`.
  std::uint32_t ReachedByMoreThan(std::size_t count, const PeerId& self) const;
  // The number of members that have reached `iteration`, not counting `self`. REQUIRES: it is > 0.
  std::size_t CountThatReached(std::uint32_t iteration, const PeerId& self) const;

  // --- what they sent ---
  // True iff it is kept: the sender's first, or the first rival.
  bool AddStatus(std::uint32_t iteration, const PeerId& sender, StatusSeen status);
  // True iff it is kept: the leader's first proposal, or the first rival.
  bool AddProposal(std::uint32_t iteration, ProposeSeen proposal);
  const Statuses& StatusesOf(std::uint32_t iteration) const;
  const std::vector<ProposeSeen>& ProposalsOf(std::uint32_t iteration) const;
  // The locks that STATUSes and PROPOSEs of the iteration claim. Ranks above the iteration cannot
  // be honest and are left out.
  std::vector<SealLock> ClaimsOf(std::uint32_t iteration) const;
  // All values that are proposed in the iterations held.
  std::set<Digest> ProposedValues() const;

  // Why this member did not vote, for people; empty if it did or has not come to it.
  void Refuse(std::uint32_t iteration, std::string why);
  std::string RefusalOf(std::uint32_t iteration) const;

  // Forgets the iterations before the one before `current`.
  void Forget(std::uint32_t current);
  // All that are held of kStatus or kPropose.
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  std::size_t members_seen() const { return reached_.size(); }
  // Aborts if R2, R3 or R4 is broken.
  void CheckInvariants(std::uint32_t current) const;

 private:
  struct Round {
    Statuses statuses;
    std::vector<ProposeSeen> proposals;
    std::string refusal;
    void HashInto(crypto::Hasher& hasher) const {
      crypto::Feed(hasher, statuses, proposals, refusal);
    }
  };
  const Round& At(std::uint32_t iteration) const;

  std::map<PeerId, std::uint32_t> reached_;
  std::map<std::uint32_t, Round> rounds_;
};

}  // namespace ostraka::protocol
