// The members of a run as the mesh knows them, each with its link, its dialing and its traffic, and
// their addresses. Members come by Add and go by Remove, at any time.
//
// A member that was forgotten (banned) keeps its place: it is told for ever that it was removed. A
// member that was removed is a stranger.
//
// Promises:
//   M1  Every member has a page in the address book, and nobody else has one.
//   M2  There are at most `max_members` members, forgotten ones included, and this node is none.
//   M3  We decide which connection is the link exactly with members whose id is larger than ours.
//
// May not know: connections that are not a member's link or dial, admission, what is said.
//
// Memory: max_members members, with the book's page each (address_book.h).
//
// What an attacker can do here: nothing; only the caller adds.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/net/mesh/address_book.h"
#include "node/net/mesh/dialing.h"
#include "node/net/mesh/link_choice.h"
#include "node/net/records/closing.h"
#include "node/net/records/traffic.h"

namespace ostraka::net {

struct Member {
  Member(boost::asio::io_context& io, const base::PeerId& who, bool we_decide,
         const TransportBackoff& waits)
      : id(who), choice(we_decide), dialing(io, waits) {}

  // False if people were told exactly that of this member last.
  bool IsNews(const Closing& closing) {
    return std::exchange(told_refusal, closing.reason) != closing.reason;
  }

  const base::PeerId id;
  bool forgotten = false;
  // It announced that it needs nothing more, has read our last messages, or is out of reach.
  bool parted = false;
  std::string told_refusal;      // why it is of another run, as last told people; until a link
  bool has_new_address = false;  // it came during a round of dials
  LinkChoice choice;
  Dialing dialing;
  Traffic traffic;
};

class MemberTable {
 public:
  MemberTable(boost::asio::io_context& io, const base::PeerId& self, const TransportBackoff& waits,
              std::size_t max_members)
      : io_(io), self_(self), waits_(waits), book_(max_members) {}

  // InvalidArgument: this node itself, or AddressBook::Check's reasons. FailedPrecondition: a
  // member already, perhaps a forgotten one. Unavailable: the bound is reached. Errors change
  // nothing.
  base::Status Add(const base::PeerId& peer, AddressSource source,
                   const std::vector<std::string>& addresses);
  // False if it is no member.
  bool Remove(const base::PeerId& peer);

  // Null: no member.
  Member* Find(const base::PeerId& peer);
  const Member* Find(const base::PeerId& peer) const;
  // A member that was not forgotten.
  bool IsMember(const base::PeerId& peer) const;
  // True if no member that was not forgotten awaits anything of us.
  bool HasPartedFromAll() const;

  const base::PeerId& self() const { return self_; }
  std::map<base::PeerId, Member>& members() { return members_; }
  const std::map<base::PeerId, Member>& members() const { return members_; }
  AddressBook& book() { return book_; }
  const AddressBook& book() const { return book_; }

  // M1 to M3.
  void CheckInvariants() const;

 private:
  boost::asio::io_context& io_;
  const base::PeerId self_;
  const TransportBackoff waits_;
  AddressBook book_;
  std::map<base::PeerId, Member> members_;
};

}  // namespace ostraka::net
