// How long a member that has finished stays for those that have not said that they have.
//
// Promises:
//   Y1  The stay ends as soon as all others are known to have finished (AllFinished). For each one
//       that is not, it ends LingerFor after the beginning, or after its link came up or it asked
//       for something if that was later. One without a link is stayed for to the end (Y2); a guest,
//       which is no key of the run and is owed nothing, not at all.
//   Y2  It ends at kStayAtMost after the beginning at the latest (LingerFor, if Delta makes that
//       longer), whatever links do. [C: CHECKed by CheckInvariants]
//
// May not know: blocks, messages. It knows links, from the start of the process on, and names.
//
// Memory: a name for each link, and for each member and follower.
//
// What an attacker can do here: not say that it has finished, which costs a run LingerFor once, or
// kStayAtMost where it asks on and on, or closes its link too. [Every stranger that was refused and
// had gone cost a run kStayAtMost.]
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "crypto/hash_into.h"
#include "node/base/check.h"
#include "node/base/ids.h"
#include "node/base/time.h"

namespace ostraka::protocol {

// An outage in the last seal is awaited as long as this [a cut of 30 s that began there outlasted
// those who had decided it].
inline constexpr base::Duration kStayAtMost = base::Seconds(45);

// Long enough for one that is stuck in the last seal to say so (1 Delta), to be helped in all three
// seals of the step, and to fetch what the block applies; 20 s besides for one that catches up.
inline base::Duration LingerFor(base::Duration delta) { return base::Seconds(20) + delta * 8; }

class Stay {
 public:
  void HashInto(crypto::Hasher& hasher) const {
    crypto::Feed(hasher, linked_, ends_, linger_, until_, guests_);
  }
  friend struct FingerprintProbe;

  void OnLink(base::Time now, const base::PeerId& peer, bool up) {
    if (up) {
      linked_.insert(peer);
    } else {
      linked_.erase(peer);
      if (guests_.contains(peer)) until_.erase(peer);
    }
    if (until_.contains(peer)) For(now, peer);
  }

  // REQUIRES: has not begun.
  void Begin(base::Time now, base::Duration delta) {
    OSTRAKA_CHECK(!ends_);
    linger_ = LingerFor(delta);
    ends_ = now + std::max(kStayAtMost, linger_);
  }

  // This member goes on. It knows its links still, and may begin to stay again.
  void Break() {
    ends_.reset();
    until_.clear();
    guests_.clear();
  }

  // Stays for `peer` too. REQUIRES: has begun.
  void For(base::Time now, const base::PeerId& peer) {
    OSTRAKA_CHECK(ends_);
    until_[peer] = linked_.contains(peer) ? std::min(now + linger_, *ends_) : *ends_;
  }
  // Stays for a guest while it has a link. REQUIRES: has begun.
  void ForGuest(base::Time now, const base::PeerId& peer) {
    guests_.insert(peer);
    if (linked_.contains(peer)) For(now, peer);
  }
  void OnFinished(const base::PeerId& peer) { until_.erase(peer); }

  bool AllFinished() const { return until_.empty(); }
  bool IsFor(const base::PeerId& peer) const { return until_.contains(peer); }
  // REQUIRES: !AllFinished().
  base::Time Until() const {
    OSTRAKA_CHECK(!AllFinished());
    base::Time latest;
    for (const auto& [peer, end] : until_) latest = std::max(latest, end);
    return latest;
  }
  std::vector<base::PeerId> Others() const {
    std::vector<base::PeerId> others;
    for (const auto& [peer, end] : until_) others.push_back(peer);
    return others;
  }

  // Y2.
  void CheckInvariants() const {
    for (const auto& [peer, end] : until_) OSTRAKA_CHECK(ends_ && end <= *ends_);
  }

 private:
  std::set<base::PeerId> linked_;   // whose link is up
  std::optional<base::Time> ends_;  // in any case, once begun
  base::Duration linger_;
  std::map<base::PeerId, base::Time> until_;  // of those that have not finished, as far as is known
  std::set<base::PeerId> guests_;             // whom this has stayed for
};

}  // namespace ostraka::protocol
