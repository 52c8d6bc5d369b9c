// Who signed which value: ECHOs and VOTEs, from which locks are certified, and LOCKs, which decide.
//
// Why bounded, and why a member may be kept saying two things: each member has room for the first
// thing it said in an iteration, and for whatever else somebody needs (the caller says which). So a
// two-faced member cannot fill the memory, and cannot hide from one honest member the vote on
// which another one's lock rests.
//
// Thread safety: none; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "node/base/ids.h"
#include "node/protocol/seal/seal_vector.h"

namespace ostraka::protocol {

// A lock, or a claim of one. Rank 0: none; 1: by Q equal ECHOs; 1 + k: by Q VOTEs of iteration k.
struct SealLock {
  std::uint32_t rank = 0;
  Digest value;
  auto operator<=>(const SealLock&) const = default;
};

// One frame a member for one value.
using Signers = std::map<PeerId, base::SharedBytes>;

// ECHOs, or the VOTEs of one iteration.
class Ballots {
 public:
  // True iff it was new and is kept: the sender's first, or `needed`.
  bool Add(const PeerId& sender, const Digest& value, base::SharedBytes frame, bool needed);
  const Signers& For(const Digest& value) const;
  // What the sender said first; null if nothing.
  const Digest* FirstOf(const PeerId& sender) const;
  const std::map<PeerId, Digest>& firsts() const { return firsts_; }
  const std::map<Digest, Signers>& by_value() const { return by_value_; }
  // The value said first by most; of several the lowest. Zero if nobody said anything.
  Digest Leading() const;
  void ForgetAllBut(const Digest& value);

 private:
  std::map<PeerId, Digest> firsts_;
  std::map<Digest, Signers> by_value_;
};

// LOCKs of any iteration, since those that decide may be long past or far ahead of one who was cut
// off. A member has room for kLocksOfOne of them; a further one displaces the one of its own that
// has the fewest companions. So a member can displace nothing but its own.
class Locks {
 public:
  static constexpr std::size_t kLocksOfOne = 4;

  bool Add(const PeerId& sender, std::uint32_t iteration, const Digest& value,
           base::SharedBytes frame);
  const Signers& For(std::uint32_t iteration, const Digest& value) const;
  struct Group {
    std::uint32_t iteration = 0;
    Digest value;
    auto operator<=>(const Group&) const = default;
  };
  const std::map<Group, Signers>& groups() const { return groups_; }

 private:
  std::map<Group, Signers> groups_;
};

}  // namespace ostraka::protocol
