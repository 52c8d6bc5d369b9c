// All connections of a node: conducts the parts that admit them, choose the link among them, dial,
// and end.
//
//   member_table.h        members: their link        address_book.h  where to dial
//                   (link_choice.h) and        reception.h     incoming connections until a link
//                   their dialing (dialing.h)  connection_pool.h  every connection until it is gone
//   tally.h         counts and lines           ending.h        parting and stopping
//   guests.h        places of strangers       guest_lines.h  links of keys that are no members
//
// mesh.cpp: events of connections, and the link. mesh_members.cpp: members and strangers come, go
// and are dialed.
// mesh_end.cpp: the end.
//
// Promises:
//   X1  link(peer, true) and link(peer, false) alternate for each peer, starting with true, also
//       across Remove and Add. No event fires inside a call of this class.
//   X2  Only a connection of a member becomes a link, and both ends agree on it (link_choice.h). A
//       stranger that has a place (guests.h) is one meanwhile.
//   X3  A removed member has no dial, no scheduled dial and no open connection that is not closing.
//   X4  `links_up` is the number of members with a link, and of removed ones whose link(false) is
//       still to come.
//   X5  What waits for all guests together is at most what may wait for one member (guest_lines.h).
//
// May not know: frames, what a member is to the run, why it is added or removed.
//
// Memory: transport.h.
//
// What an attacker can do here: each part says it for itself.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/base/rng.h"
#include "node/net/link/connection.h"
#include "node/net/mesh/connection_pool.h"
#include "node/net/mesh/ending.h"
#include "node/net/mesh/guest_lines.h"
#include "node/net/mesh/guests.h"
#include "node/net/mesh/member_table.h"
#include "node/net/mesh/reception.h"
#include "node/net/mesh/tally.h"
#include "node/net/mesh/transport.h"
#include "node/net/records/outgoing_blobs.h"
#include "node/os/timer.h"

namespace ostraka::net {

class Mesh final : private ConnectionOwner {
 public:
  // Ignores `options.members`: members come by Add.
  Mesh(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
       TransportEvents events);

  // These promise what Transport's functions of equal name promise.
  void Start();
  base::Status Add(const PeerId& peer, const std::vector<std::string>& addresses,
                   AddressSource source);
  base::Status SetAddresses(const PeerId& peer, const std::vector<std::string>& addresses,
                            AddressSource source);
  bool Remove(const PeerId& peer);
  void Forget(const PeerId& peer);
  void Expect(std::set<PeerId> coming, std::optional<std::set<PeerId>> members);
  void Send(const PeerId& to, SharedBytes frame, SharedBlob blob);
  void Part(Duration deadline, std::function<void()> done);
  void Shutdown(Duration deadline, std::function<void()> done);
  // Null: its link is down.
  Connection* LinkOf(const PeerId& peer) const;
  std::vector<PeerAddress> AddressesOf(const PeerId& peer) const {
    return member_table_.book().Of(peer);
  }
  TransportCounters counters() const;

  // Takes an incoming connection; refuses it at once if too many are half-open.
  void Accept(AcceptedSocket socket);
  void OnAcceptFailed(const std::string& reason);

 private:
  static constexpr char kLeavingReason[] = "shutting down";

  // --- events of connections (mesh.cpp) ---
  base::StatusOr<Hello> OnAuthenticated(Connection& connection) override;
  void OnHello(Connection& connection, const Hello& theirs) override;
  void OnGo(Connection& connection, std::uint64_t link_id) override;
  void OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) override;
  void OnDialBack(Connection& connection, const DialBackRecord& record) override;
  void OnData(Connection& connection, const DataRecord& record) override;
  void OnBytes(Connection& connection, const Traffic& added) override;
  void OnClosing(Connection& connection, const Closing& closing) override;
  void OnGone(Connection& connection) override;
  void OnTurnedAway(const std::string& remote, const Closing& closing);

  // Null: not a member, or unknown so far.
  Member* MemberOf(const Connection& connection);
  void MakeLink(Member& member, Connection& connection, std::uint64_t link_id);
  void EndLink(Member& member, const Closing& closing);
  void LookAtLinks();

  // --- members and their dialing (mesh_members.cpp) ---
  // A stranger gets a place, and is a member as long as it has it.
  base::Status Welcome(const Connection& connection);
  void CloseAllOf(const PeerId& peer);
  bool MayDial(const Member& member) const;
  void DialFirst(Member& member);
  void ScheduleDial(Member& member, Duration wait);
  void Dial(Member& member);
  bool DialNext(Member& member);
  void EndDial(Member& member, Connection& connection, const Closing& closing);

  // --- the end (mesh_end.cpp) ---
  void OnEndDeadline();
  void Stop();
  void StopOncePartedFromAll();
  void CheckInvariants() const;

  const TransportOptions options_;
  const TransportEvents events_;
  base::Rng rng_;  // for jitter and the ids of this process
  const std::uint64_t instance_;
  // Last link id that this node issued. Ids grow, so that a late GO is recognized, and start at a
  // random value, so that a peer cannot confuse a link of a previous process with a current one.
  std::uint64_t last_link_id_;
  bool started_ = false;

  Tally tally_;
  ConnectionPool pool_;
  MemberTable member_table_;
  Reception reception_;
  Guests guests_;  // each is in the member table, without an address
  GuestLines guest_lines_;
  OutgoingBlobs outgoing_;
  // Links of removed members whose link(false) is still to come.
  std::set<const Connection*> departed_;
  Ending ending_;
  os::Timer look_timer_;
};

}  // namespace ostraka::net
