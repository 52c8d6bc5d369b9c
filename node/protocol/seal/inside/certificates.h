// The ballots of a seal by value, and what they certify: locks and the decision (docs/seal.md, 4).
//
// A lock of rank 1 is certified by Q equal ECHOs, one of rank 1 + k by Q VOTEs of iteration k. Q
// LOCKs of one iteration for one value decide, and so do equal ECHOs of all unmuted members, if
// they are Q. Also here: this member's own lock, and the locks that others name, since both say
// which further ballots are kept.
//
// Promises [C: CHECKed]:
//   C1  A ballot is kept exactly while it is its sender's first of a near iteration (window.h; an
//       ECHO always is), or is needed: a lock that is known may rest on it (IsNeeded). Rationale: a
//       lock may rest on votes that a two-faced member gave to one honest member alone. [C: nothing
//       else is kept]
//   C2  The rank of the own lock never falls. [C]
//   C3  A lock that this member sends is certified here. [C]
//   C4  A name ends at the iteration that Name was told; a LOCK names its lock while it is held.
//   C5  Ballots and Locks keep theirs (seal_ballots.h). [C: by CheckInvariants]
//
// May not know: vectors, proposals, time.
//
// Memory: first ECHOs, first VOTEs of the window, four LOCKs of each member, and for each lock that
// is known at most one frame of each member: t_s of them if the lock does not exist, as no honest
// member supports it. The owner bounds the names (seal.h, "Memory").
//
// What an attacker can do here: claim locks that do not exist, so that further ballots are kept for
// two iterations; displace its own LOCKs. Attack: the VOTEs of LOCKs that displaced each other
// stayed, and so did the ECHOs of claims that had ended and of every value that once led: without
// bound, t_s in each iteration, and t_s^2. Attack (accepted): a member floods another with its own
// LOCKs just while a certificate that counts on its LOCK arrives; the next STATUS brings it again.
//
// Thread safety: none; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/seal/seal_ballots.h"
#include "node/protocol/seal/seal_io.h"

namespace ostraka::protocol {

class SealCertificates {
 public:
  // REQUIRES: quorum > 0.
  explicit SealCertificates(std::size_t quorum);
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  void AddEcho(const PeerId& sender, const Digest& value, base::SharedBytes frame);
  // REQUIRES: `iteration` >= 1, and it is in the window or IsNeeded.
  void AddVote(std::uint32_t iteration, const PeerId& sender, const Digest& value,
               base::SharedBytes frame);
  // True iff it is new. `current`: the present iteration.
  bool AddLock(std::uint32_t iteration, const PeerId& sender, const Digest& value,
               base::SharedBytes frame, std::uint32_t current);
  // Some member has this lock or may come to have it. Its ballots are needed through iteration
  // `last`.
  void Name(const SealLock& lock, std::uint32_t last);
  // The own lock, a named one or a LOCK may rest on ballots of `iteration` for `value`; or they are
  // ECHOs for the value that leads, by which the fast path may still decide.
  bool IsNeeded(std::uint32_t iteration, const Digest& value) const;
  const std::map<SealLock, std::uint32_t>& named() const { return named_; }

  const SealLock& lock() const { return lock_; }  // the own one; rank 0: none
  // No effect unless its rank is above the own lock's.
  void Raise(const SealLock& lock, std::uint32_t current);
  // Takes `lock` as the own one, because this member sends LOCK for it. REQUIRES: it is certified,
  // and its rank is not below the own lock's.
  void LockOn(const SealLock& lock, std::uint32_t current);

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

  // Iteration `current` is the present one from now on: names that ended before it go, and then
  // the ballots that C1 does not keep.
  void Forget(std::uint32_t current);
  // All that are held of kEcho, kVote or kLock.
  std::vector<SealFrame> Frames(wire::MessageType type) const;
  void CheckInvariants(std::uint32_t current) const;  // aborts if C1 or C5 is broken

 private:
  void SetLock(const SealLock& lock, std::uint32_t current);
  // Drops what C1 does not keep among the ballots of `iteration`.
  void DropUnneeded(std::uint32_t iteration, std::uint32_t current);

  const std::size_t quorum_;
  std::map<std::uint32_t, Ballots> ballots_;  // 0: ECHOs; k: VOTEs of iteration k
  Locks locks_;
  SealLock lock_;
  std::map<SealLock, std::uint32_t> named_;  // by lock: through which iteration
};

}  // namespace ostraka::protocol
