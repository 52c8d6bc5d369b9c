// The ballots of a seal by value, and what they certify: locks and the decision (docs/seal.md, 4).
//
// A lock of rank 1 is certified by Q equal ECHOs, one of rank 1 + k by Q VOTEs of iteration k. Q
// LOCKs of one iteration for one value decide, and so do equal ECHOs of all unmuted members, if
// they are Q. Also here: this member's own lock, and the locks that others claim in this iteration,
// since both say which further ballots are kept.
//
// Promises [C: CHECKed]:
//   C1  The first ballot of each member and iteration is kept. A further one is kept if a lock is
//       known that may rest on it (IsNeeded). Rationale: a lock may rest on votes that a two-faced
//       member gave to one honest member alone.
//   C2  The rank of the own lock never falls, unless another process signs with this member's key.
//   C3  A lock that this member sends is certified here. [C]
//   C4  Of a past iteration only the ballots that certify the own lock are kept; ECHOs always are.
//   C5  Ballots and Locks keep theirs (seal_ballots.h). [C: by CheckInvariants]
//
// May not know: vectors, proposals, time, which iteration is the present one.
//
// Memory: O(n) frames of each iteration that the owner lets in, four LOCKs of each member, and at
// most t_s frames for each false claim of a lock, as no honest member supports one. Claims end with
// Forget.
//
// What an attacker can do here: claim a lock that does not exist, so that second ballots are kept
// for one iteration; displace its own LOCKs. Attack (accepted): a member floods another with its
// own LOCKs just while a certificate that counts on its LOCK arrives; the next STATUS brings it
// again.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_io.h"

namespace ostraka::protocol {

class SealCertificates {
 public:
  // REQUIRES: quorum > 0.
  explicit SealCertificates(std::size_t quorum);
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, ballots_, locks_, lock_, claims_);
  }
  friend struct FingerprintProbe;

  // Iterations are counted from 1 (the wire refuses others). `wanted`: it is kept even if it is not
  // the sender's first and no known lock may rest on it.
  void AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame, bool wanted);
  void AddVote(std::uint32_t iteration, const PeerId& sender, const Digest& value,
               base::SharedBytes frame, bool wanted);
  // True iff it is new.
  bool AddLock(std::uint32_t iteration, const PeerId& sender, const Digest& value,
               base::SharedBytes frame);
  // A member claims to have this lock, in the present iteration.
  void Claim(const SealLock& lock) { claims_.insert(lock); }
  // The own lock, a claimed one or a LOCK may rest on ballots of `iteration` for `value`.
  bool IsNeeded(std::uint32_t iteration, const Digest& value) const;

  const SealLock& lock() const { return lock_; }  // the own one; rank 0: none
  // No effect unless its rank is above the own lock's.
  void Raise(const SealLock& lock);
  // This member sends LOCK. REQUIRES: `lock` is certified.
  void Hold(const SealLock& lock);

  // The ballots for `lock` that are here; none for rank 0.
  const Signers& SignersOf(const SealLock& lock) const;
  bool IsCertified(const SealLock& lock) const;
  SealLock HighestCertified() const;  // rank 0: none
  // The value that most members echoed first; zero if none came.
  Digest LeadingEcho() const;
  const Locks& locks() const { return locks_; }

  struct Decision {
    Digest value;
    Signers signers;
  };
  // What is decided, with the frames that prove it. `unmuted` is the number of unmuted members.
  std::optional<Decision> Decided(std::size_t unmuted) const;

  // Iteration `current` begins: its claims are none yet, and old ballots go.
  void Forget(std::uint32_t current);
  // All that are held of kEcho, kVote or kLock.
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  void CheckInvariants() const;  // aborts if C5 is broken

 private:
  void Add(std::uint32_t iteration, const PeerId& sender, const Digest& value,
           base::SharedBytes frame, bool wanted);

  const std::size_t quorum_;
  std::map<std::uint32_t, Ballots> ballots_;  // 0: ECHOs; k: VOTEs of iteration k
  Locks locks_;
  SealLock lock_;
  std::set<SealLock> claims_;
};

}  // namespace ostraka::protocol
