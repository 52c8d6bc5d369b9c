// Members come, go and are dialed (node/net/mesh/mesh.h).
#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/net/mesh/mesh.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {
namespace {

const Closing kRemoved{Closing::Why::kLocal, "was removed from this run"};

}  // namespace

// --- members -------------------------------------------------------------------------------------

base::Status Mesh::Add(const PeerId& peer, const std::vector<std::string>& addresses,
                       AddressSource source) {
  if (ending_.begun()) return base::FailedPrecondition("comes while this node ends");
  if (guests_.Contains(peer)) {
    RETURN_IF_ERROR(AddressBook::Check(addresses));
    guests_.Leave(peer);
    guest_lines_.Tell(peer);
    return SetAddresses(peer, addresses, source);
  }
  RETURN_IF_ERROR(member_table_.Add(peer, source, addresses));
  const std::size_t members = member_table_.members().size();
  reception_.SetMembers(members);
  const std::uint64_t least = LeastBytesPerSecond(options_.link, members);
  if (options_.max_bytes_per_second > 0 && options_.max_bytes_per_second < least) {
    tally_.RateTooLow(options_.max_bytes_per_second, least, members);
  }
  CheckInvariants();
  if (started_) DialFirst(*member_table_.Find(peer));
  return base::OkStatus();
}

base::Status Mesh::SetAddresses(const PeerId& peer, const std::vector<std::string>& addresses,
                                AddressSource source) {
  ASSIGN_OR_RETURN(const bool is_new, member_table_.book().Set(peer, source, addresses));
  Member& member = *member_table_.Find(peer);  // it has a page, so it is a member
  if (!is_new || !started_ || !MayDial(member)) return base::OkStatus();
  if (member.choice.link() != nullptr) return base::OkStatus();
  // Soon, but not at once. Attack: otherwise announcements make us dial at their own rate.
  if (member.dialing.is_under_way()) {
    member.has_new_address = true;
  } else {
    member.dialing.ScheduleNoLater(member.dialing.FirstWait(), [this, &member] { Dial(member); });
  }
  return base::OkStatus();
}

bool Mesh::Remove(const PeerId& peer) {
  Member* member = member_table_.Find(peer);
  if (member == nullptr) return false;
  // Its link(false) comes from the io_context, before any link(true) of a later membership: what
  // could bring that one is not yet begun, and this is posted first.
  if (member->choice.link() != nullptr) departed_.insert(member->choice.link().get());
  CloseAllOf(peer);
  guests_.Leave(peer);
  member_table_.Remove(peer);
  reception_.SetMembers(member_table_.members().size());
  CheckInvariants();
  StopOncePartedFromAll();
  return true;
}

void Mesh::Forget(const PeerId& peer) {
  Member* member = member_table_.Find(peer);
  if (member == nullptr || member->forgotten) return;
  member->forgotten = true;
  guests_.Leave(peer);
  member->dialing.Cancel();
  CloseAllOf(peer);
  CheckInvariants();
  StopOncePartedFromAll();
}

// --- strangers -----------------------------------------------------------------------------------

base::Status Mesh::Welcome(const Connection& connection) {
  if (ending_.begun()) return base::Unavailable("comes while this node ends");
  const PeerId peer = *connection.peer();
  ASSIGN_OR_RETURN(const std::optional<PeerId> gives_way,
                   guests_.Enter(os::SteadyNow(), peer, reception_.NetworkOf(connection)));
  if (gives_way) Remove(*gives_way);
  const base::Status added = member_table_.Add(peer, AddressSource::kManifest, {});
  if (!added.ok()) guests_.Leave(peer);
  reception_.SetMembers(member_table_.members().size());
  return added;
}

// [A member that came back after a while was dialed half a minute later by those that cannot be
// dialed, and all others waited for what it could not send to them.]
void Mesh::Expect(std::set<PeerId> coming, std::optional<std::set<PeerId>> members) {
  if (members) guest_lines_.SetMembers(*std::move(members));
  for (const PeerId& peer : coming) {
    Member* member = member_table_.Find(peer);
    if (member == nullptr || guests_.Expects(peer) || !started_ || !MayDial(*member)) continue;
    member->dialing.ResetBackoff();
    if (member->choice.link() != nullptr || member->dialing.is_under_way()) continue;
    member->dialing.ScheduleNoLater(member->dialing.FirstWait(), [this, member] { Dial(*member); });
  }
  guests_.Expect(std::move(coming));
}

void Mesh::CloseAllOf(const PeerId& peer) {
  for (const std::shared_ptr<Connection>& connection : pool_.Of(peer)) {
    connection->Close(kRemoved, CloseCode::kLeaving);
  }
}

// --- dialing -------------------------------------------------------------------------------------

bool Mesh::MayDial(const Member& member) const {
  return !ending_.stopping() && !member.forgotten && !(ending_.parting() && member.parted) &&
         !member_table_.book().Of(member.id).empty();
}

// If both sides dialed at once, one of the two handshakes would be wasted.
void Mesh::DialFirst(Member& member) {
  if (member.choice.we_decide()) {
    Dial(member);
  } else {
    ScheduleDial(member, options_.backoff.stagger);
  }
}

void Mesh::ScheduleDial(Member& member, Duration wait) {
  if (!MayDial(member)) return;
  member.dialing.Schedule(wait, [this, &member] { Dial(member); });
}

// Begins a round: each address of the member once, until one of them leads to a link.
void Mesh::Dial(Member& member) {
  if (!MayDial(member)) return;
  if (member.choice.link() != nullptr || member.dialing.is_under_way()) return;
  member_table_.book().BeginRound(member.id);
  DialNext(member);
}

// False if no address was left in the round, or too many are tried at once.
bool Mesh::DialNext(Member& member) {
  if (!MayDial(member) || member.choice.link() != nullptr) return false;
  if (!member.dialing.MayBegin()) return false;
  const std::optional<std::string> address = member_table_.book().Next(member.id);
  if (!address) return false;
  tally_.CountDialed();
  const std::shared_ptr<Connection> attempt = pool_.Dial(member.id, *address);
  member.dialing.Begin(attempt, [this, &member] { DialNext(member); });
  attempt->Start();
  return true;
}

void Mesh::EndDial(Member& member, Connection& connection, const Closing& closing) {
  const std::shared_ptr<Connection> attempt = member.dialing.End(connection);
  if (closing.why == Closing::Why::kDuplicate) {
    // The other connection is about to become the link; dial again in case it does not.
    if (!member.dialing.is_under_way()) ScheduleDial(member, options_.backoff.first);
    return;
  }
  const bool is_news = member_table_.book().OnFailed(member.id, attempt->remote(), closing.reason);
  const std::string name = member.id.Short() + " at " + attempt->remote();
  // A key other than the one that was dialed is the address's fault, and told for each address.
  if (closing.IsOfAnother() && attempt->peer() == member.id) {
    tally_.MemberOfAnother(name, closing, member.IsNews(closing));
  } else {
    tally_.DialFailed(name, closing, is_news);
  }
  if (DialNext(member) || member.dialing.is_under_way()) return;
  const bool is_hasty = std::exchange(member.has_new_address, false);
  ScheduleDial(member, is_hasty ? member.dialing.FirstWait() : member.dialing.NextWait(rng_));
}

}  // namespace ostraka::net
