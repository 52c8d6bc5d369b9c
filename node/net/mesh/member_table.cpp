#include "node/net/mesh/member_table.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::net {

base::Status MemberTable::Add(const base::PeerId& peer, AddressSource source,
                              const std::vector<std::string>& addresses) {
  if (peer == self_) return base::InvalidArgument("is this node itself");
  if (const Member* member = Find(peer)) {
    return base::FailedPrecondition(member->forgotten ? "was removed from this run"
                                                      : "is a member already");
  }
  RETURN_IF_ERROR(AddressBook::Check(addresses));
  RETURN_IF_ERROR(book_.Open(peer));
  const base::StatusOr<bool> written = book_.Set(peer, source, addresses);
  OSTRAKA_CHECK(written.ok());  // Check has passed, and the page is new
  members_.try_emplace(peer, io_, peer, self_ < peer, waits_);
  OSTRAKA_CHECK(members_.size() == book_.size());  // M1
  return base::OkStatus();
}

bool MemberTable::Remove(const base::PeerId& peer) {
  const bool was_member = members_.erase(peer) == 1;
  OSTRAKA_CHECK(book_.Close(peer) == was_member);  // M1
  return was_member;
}

Member* MemberTable::Find(const base::PeerId& peer) {
  const auto found = members_.find(peer);
  return found == members_.end() ? nullptr : &found->second;
}

const Member* MemberTable::Find(const base::PeerId& peer) const {
  const auto found = members_.find(peer);
  return found == members_.end() ? nullptr : &found->second;
}

bool MemberTable::IsMember(const base::PeerId& peer) const {
  const Member* member = Find(peer);
  return member != nullptr && !member->forgotten;
}

bool MemberTable::HasPartedFromAll() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.forgotten || entry.second.parted;
  });
}

void MemberTable::CheckInvariants() const {
  book_.CheckInvariants();                         // M2: the book has its bound
  OSTRAKA_CHECK(members_.size() == book_.size());  // M1
  OSTRAKA_CHECK(!members_.contains(self_));        // M2
  for (const auto& [id, member] : members_) {
    OSTRAKA_CHECK(id == member.id && member.choice.we_decide() == (self_ < id));  // M3
  }
}

}  // namespace ostraka::net
