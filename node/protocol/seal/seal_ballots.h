// The signers of each value: ECHOs and VOTEs, which certify locks, and LOCKs, which decide.
//
// Promises [C: CHECKed by CheckInvariants]:
//   B1  Ballots: each signer has a first value, the frame for it is here, and no group of
//       by_value() is empty. [C]
//   B2  Ballots: a further value of a member is kept only if it is `needed`.
//   B3  Locks: a member has frames in at most kLocksOfOne groups, and no group is empty. [C]
//   B4  Locks: a member's frame is displaced only by a later frame of that member.
//
// May not know: what a ballot decides, time, which iteration is the present one.
//
// Memory: in Ballots the first frame of each member and the needed ones, whose values the caller
// bounds; in Locks kLocksOfOne frames of each member.
//
// What an attacker can do here: use up its own share of the memory. Rationale for keeping two
// conflicting ballots of one member: a two-faced member must not be able to hide from one honest
// member the vote on which the lock of another rests.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "crypto/hash_into.h"
#include "node/base/ids.h"
#include "node/protocol/seal/seal_vector.h"

namespace ostraka::protocol {

// A lock, or a claim of one. Rank 0: none; 1: Q equal ECHOs; 1 + k: Q VOTEs of iteration k.
struct SealLock {
  std::uint32_t rank = 0;
  Digest value;
  auto operator<=>(const SealLock&) const = default;
  void HashInto(crypto::Hasher& hasher) const;
};

// One frame of each member, all for one value.
using Signers = std::map<PeerId, base::SharedBytes>;
inline const Signers kNobody;

// ECHOs, or the VOTEs of one iteration.
class Ballots {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // True iff the frame is new and kept: the sender's first, or `needed`.
  bool Add(const PeerId& sender, const Digest& value, base::SharedBytes frame, bool needed);
  const Signers& For(const Digest& value) const;
  const std::map<PeerId, Digest>& firsts() const { return firsts_; }
  const std::map<Digest, Signers>& by_value() const { return by_value_; }
  // The value that is the first of the most members; of equals, the lowest. Zero if there is none.
  Digest Leading() const;
  // Drops the ballots for values that are not `needed`; if `keeps_firsts`, but for the first of
  // each member. If not, the lowest value of a member that stays counts as its first.
  void Drop(const std::function<bool(const Digest&)>& needed, bool keeps_firsts);
  bool empty() const { return by_value_.empty(); }
  void CheckInvariants() const;  // aborts if B1 is broken

 private:
  std::map<PeerId, Digest> firsts_;
  std::map<Digest, Signers> by_value_;
};

// LOCKs of any iteration: to a member that was cut off, the LOCKs that decide may be long past or
// far ahead. A member's LOCK beyond kLocksOfOne displaces its own LOCK in the smallest group.
class Locks {
 public:
  static constexpr std::size_t kLocksOfOne = 4;
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  struct Group {
    std::uint32_t iteration = 0;
    Digest value;
    auto operator<=>(const Group&) const = default;
    void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, iteration, value); }
  };
  struct Added {
    bool is_new = false;
    std::optional<Group> emptied;  // it lost its last frame
  };
  Added Add(const PeerId& sender, std::uint32_t iteration, const Digest& value,
            base::SharedBytes frame);
  const Signers& For(std::uint32_t iteration, const Digest& value) const;
  const std::map<Group, Signers>& groups() const { return groups_; }
  void CheckInvariants() const;  // aborts if B3 is broken

 private:
  std::map<Group, Signers> groups_;
};

}  // namespace ostraka::protocol
