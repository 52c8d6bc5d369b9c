// The removals of a run, in the order sealed. A member may be dropped and return without end, so
// only the newest of those removals are kept.
//
// Promises:
//   G1  At most kMost removals are kept. A ban is given up only if kMost newer bans are kept, which
//       a run of at most wire::kMaxPeers members, each banned once, never has.
//   G2  count() counts every removal that was added.
//
// May not know: what a removal means, but for bans.
// Memory: kMost removals.
// What an attacker can do here: a member that is dropped again and again pushes out older drops.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/base/check.h"
#include "node/wire/block.h"
#include "node/wire/limits.h"

namespace ostraka::host {

class RemovalLog {
 public:
  using Counts = std::array<std::uint64_t, wire::kRemovalKindCount>;  // by wire::RemovalKind
  static constexpr std::size_t kMost = 4 * wire::kMaxPeers;

  void Add(const wire::Removal& removal) {
    ++counts_[static_cast<std::size_t>(removal.kind)];
    kept_.push_back(removal);
    if (kept_.size() > kMost) {
      const auto drop = std::find_if(kept_.begin(), kept_.end(), [](const wire::Removal& each) {
        return !wire::IsBan(each.kind);
      });
      kept_.erase(drop == kept_.end() ? kept_.begin() : drop);
    }
    CheckInvariants();
  }

  const std::vector<wire::Removal>& kept() const { return kept_; }
  const Counts& counts() const { return counts_; }

  // G1, G2; also at the end of Add.
  void CheckInvariants() const {
    std::uint64_t added = 0;
    for (const std::uint64_t count : counts_) added += count;
    OSTRAKA_CHECK(kept_.size() == std::min<std::uint64_t>(added, kMost));
  }

 private:
  std::vector<wire::Removal> kept_;
  Counts counts_{};
};

}  // namespace ostraka::host
