// Which links are those of guests, keys that are no members of the run, and what may wait for them.
//
// Promises:
//   L1  While a link is up its connection knows whether it is a guest's (Connection::SetGuest).
//   L2  What waits for all guests together is at most what Bound is told: beyond it the link of the
//       guest for which most waits is closed.
//
// May not know: frames, who is let in.
//
// Memory: the keys of the members.
//
// What an attacker can do here: as a guest, have its link closed by reading slowly.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/net/link/connection.h"
#include "node/net/mesh/guests.h"
#include "node/net/mesh/member_table.h"

namespace ostraka::net {

class GuestLines {
 public:
  // REQUIRES: both outlive this object.
  GuestLines(MemberTable& member_table, const Guests& strangers)
      : member_table_(member_table), strangers_(strangers) {}

  bool IsGuest(const base::PeerId& peer) const {
    return members_ ? !members_->contains(peer) : strangers_.Contains(peer);
  }
  // These are the members from now on; before, all are but for strangers.
  void SetMembers(std::set<base::PeerId> members) {
    members_ = std::move(members);
    for (const auto& [id, member] : member_table_.members()) Tell(id);
  }
  // L1, for a link that is made, or whose stranger was added.
  void Tell(const base::PeerId& peer) {
    const Member* member = member_table_.Find(peer);
    if (member->choice.link() != nullptr) member->choice.link()->SetGuest(IsGuest(peer));
  }
  // L2; once something was queued for `to`.
  void Bound(const base::PeerId& to, std::uint64_t most) {
    if (!IsGuest(to)) return;
    std::vector<std::pair<std::uint64_t, Connection*>> waiting;
    std::uint64_t all = 0;
    for (const auto& [id, member] : member_table_.members()) {
      if (!IsGuest(id) || !member.choice.is_up()) continue;
      Connection* const link = member.choice.link().get();
      waiting.emplace_back(link->queue().bulk_bytes() + link->queue().control_bytes(), link);
      all += waiting.back().first;
    }
    while (all > most) {
      const auto longest = std::max_element(waiting.begin(), waiting.end());
      all -= longest->first;
      longest->second->Close(
          {Closing::Why::kRefused,
           "takes our answers too slowly: more than " + std::to_string(most) +
               " bytes wait for all that are no members, and most of them for it",
           Refusal::kSlow},
          CloseCode::kSlow);
      longest->first = 0;
    }
  }

 private:
  MemberTable& member_table_;
  const Guests& strangers_;
  std::optional<std::set<base::PeerId>> members_;
};

}  // namespace ostraka::net
