// The rules for a proposal: what a leader may propose, and which members may vote for it
// (docs/seal.md, 4). Pure functions.
//
// A proposal without a lock names Q STATUSes of rank 0, the set J. If Q - t_a members of J echoed
// one value, some member may have decided it by the fast path: the value is forced. Otherwise the
// leader merges.
//
// A member that signed two STATUSes for one slot is two-faced. The value that it supports is
// unknown, so a voter counts it as supporting whatever value the leader proposes. This is safe: the
// honest members of J are never two-faced and number at least Q - t_a if a fast decision was
// possible; and Q - t_a > t_s supporters of a value (inside/setup.h CHECKs it) include an honest
// one, whatever two-faced members say.
//
// Promises [C: CHECKed by CheckInvariants]:
//   U1  Statuses holds one or two STATUSes of each sender in it, with different digests. [C]
//
// May not know: time, votes, which iteration is the present one.
//
// Memory: two frames of each member, as the owner adds those of unmuted members only.
//
// What an attacker can do here: make itself two-faced, and no more.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/seal/seal_io.h"
#include "node/protocol/seal/seal_vector.h"
#include "node/wire/hash_into.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

struct StatusSeen {
  wire::SealStatus body;
  Digest digest;
  base::SharedBytes frame;
  void HashInto(crypto::Hasher& hasher) const;
};

// STATUSes of one iteration: the first of each member, and at most one different one (its rival).
class Statuses {
 public:
  void HashInto(crypto::Hasher& hasher) const;
  friend struct FingerprintProbe;

  // True iff it is kept.
  bool Add(const PeerId& sender, StatusSeen status);
  // Null if none came.
  const StatusSeen* FirstOf(const PeerId& sender) const;
  bool TwoFaced(const PeerId& sender) const;
  const std::map<PeerId, std::vector<StatusSeen>>& all() const { return by_sender_; }
  void CheckInvariants() const;  // aborts if U1 is broken

 private:
  std::map<PeerId, std::vector<StatusSeen>> by_sender_;
};

// J as a leader chooses it: the first `quorum` members by key that state rank 0 and are not
// two-faced; nullopt if there are too few.
std::optional<std::vector<PeerId>> ChooseStatuses(const Statuses& statuses, std::size_t quorum);
// The value that at least `force_count` (Q - t_a) of `chosen` echoed.
std::optional<Digest> ForcedValue(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                  std::size_t force_count);
// Root over the first STATUSes of `chosen`, in that order. REQUIRES: all are held.
Digest StatusesRoot(const Statuses& statuses, const std::vector<PeerId>& chosen);

// Members of `chosen` whose STATUS must be requested: those not held. If all are held, none is
// two-faced and the root differs from the one that the leader named: all.
std::vector<PeerId> StatusesToAskFor(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                     const Digest& root);
enum class StatusRule : std::uint8_t { kRefused, kForced, kMerge };
// What J permits for `propose`. kRefused: the STATUSes are not in order, or force another value,
// and `why` says so for people. kForced: they permit the value, and its vector need not be judged.
// kMerge: the value must pass MergeFault.
StatusRule JudgeStatuses(const Statuses& statuses, const std::vector<PeerId>& chosen,
                         const wire::Propose& propose, std::size_t quorum, std::size_t force_count,
                         std::string& why);

// Empty if a member that echoed `own` may vote for `merged`: nothing of its ECHO is left out, and
// the member holds everything that is included. Otherwise the fault, for people.
std::string MergeFault(const SealVector& own, const SealVector& merged,
                       const SealMessages& messages);

}  // namespace ostraka::protocol
