// What a leader may propose and who may vote for it (docs/seal.md, 4): pure rules.
//
// A proposal without a lock names Q STATUSes of rank 0, the set J. If Q - t_a of J echoed one
// value, somebody may have decided it by the fast path: it is forced. Else the leader merges.
//
// A member that signed two STATUSes for one slot is two-faced: to each its own. What it supports is
// unknown, so a voter lets the leader's reading of it pass. Safe: the honest of J are never
// two-faced and are Q - t_a if a fast decision was possible; and a value with Q - t_a > t_s
// supporters has an honest one whatever the two-faced say.
//
// Thread safety: pure functions and plain values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/protocol/seal/seal_vector.h"
#include "node/wire/messages.h"

namespace ostraka::protocol {

class SealMessages;

struct StatusSeen {
  wire::Status body;
  Digest digest;
  base::SharedBytes frame;
};

// STATUSes of one iteration: of each member the first and one rival.
class Statuses {
 public:
  // True iff it is kept.
  bool Add(const PeerId& sender, StatusSeen status);
  // Null if none came.
  const StatusSeen* FirstOf(const PeerId& sender) const;
  bool TwoFaced(const PeerId& sender) const;
  const std::map<PeerId, std::vector<StatusSeen>>& all() const { return by_sender_; }

 private:
  std::map<PeerId, std::vector<StatusSeen>> by_sender_;
};

// J as a leader chooses it: the first `quorum` members by key that are of rank 0 and not two-faced;
// nullopt if there are too few.
std::optional<std::vector<PeerId>> ChooseStatuses(const Statuses& statuses, std::size_t quorum);
// The value that at least `enough` (Q - t_a) of `chosen` echoed.
std::optional<Digest> ForcedValue(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                  std::size_t enough);
// Root over their STATUSes in the order of `chosen`. REQUIRES: all are held.
Digest StatusesRoot(const Statuses& statuses, const std::vector<PeerId>& chosen);

// Members of `chosen` whose STATUS the voter must ask the leader for: those not held, or all if
// what it holds is not what the leader names.
std::vector<PeerId> StatusesToAskFor(const Statuses& statuses, const std::vector<PeerId>& chosen,
                                     const Digest& root);
enum class StatusRule : std::uint8_t { kRefused, kForced, kMerge };
// What J makes of a proposal of `value`: refused if its STATUSes are not in order or force another.
// `why` says so in words.
StatusRule JudgeStatuses(const Statuses& statuses, const std::vector<PeerId>& chosen,
                         const wire::Propose& propose, std::size_t quorum, std::size_t enough,
                         std::string& why);

// Empty if a member that echoed `own` may vote for the merge: nothing of its echo is left out, and
// it holds everything included.
std::string MergeFault(const SealVector& own, const SealVector& merged,
                       const SealMessages& messages);

}  // namespace ostraka::protocol
