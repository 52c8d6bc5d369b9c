// Incoming connections until they are links or closed: admission, the lobby, and the places of the
// half-open.
//
//   Accept ──► lobby.h ── names a run ──► half-open ──► Leave (a link, or closed)
//      └─ refused      └─ left                └─ gives way to another
//
// Promises:
//   R1  A connection counts against its address from Accept until Leave, and against its standing
//       while it is half-open; both counts end exactly once (admission.h).
//   R2  At most `half_open` connections of each standing but kKnown are half-open, at most
//       half_open_per_member of one member and `non_members` proven ones that are no member's.
//   R3  A connection that has proven a member's key is charged nothing and gives way to nobody.
//
// May not know: which connection is the link, dials, what is counted and said.
//
// Memory: the lobby (lobby.h), and one entry for each half-open connection.
//
// What an attacker can do here: fill the places of its own standing; see admission.h for what that
// costs whom.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/net/link/connection.h"
#include "node/net/mesh/admission.h"
#include "node/net/mesh/lobby.h"

namespace ostraka::net {

class Reception {
 public:
  struct Events {
    // Makes the connection of a caller; the reception starts it.
    std::function<std::shared_ptr<Connection>(Caller)> connect;
    // A socket from `remote` was closed before it was a connection.
    std::function<void(const std::string& remote, const Closing& closing)> turned_away;
    std::function<bool(const PeerId&)> is_member;
    // True if the run vouches for an AddressGroup.
    std::function<bool(const std::string&)> vouches;
  };

  // `alpn`: the name of our run. `patience`: for the lobby.
  Reception(boost::asio::io_context& io, const AdmissionLimits& limits, std::string alpn,
            base::Duration patience, Events events);

  // The number of members from which bursts of connections must be expected.
  void SetMembers(std::size_t members) { admission_.SetMembers(members); }
  // Takes ownership of the descriptor.
  void Accept(AcceptedSocket socket);
  // Closes the lobby; half-open connections stay.
  void CloseLobby() { lobby_.Clear(); }

  // --- half-open connections; all are no-ops for others ---
  // TLS has proven the peer's id. OK unless its peer, or all non-members together, already have too
  // many connections. A member's connection gets its charge back.
  base::Status OnProven(const Connection& connection);
  // The AddressPrefix from which it came; empty for loopback.
  std::string NetworkOf(const Connection& connection) const;
  // The connection was refused for what it sent or failed to send.
  void OnRefused(const Connection& connection);
  // It became the link, or its socket is closed.
  void Leave(const Connection& connection);

  // Connections in the lobby, and half-open ones.
  std::size_t waiting() const { return lobby_.size(); }
  std::size_t size() const { return lobby_.size() + half_open_.size(); }

  // R1 and R2.
  void CheckInvariants() const;

 private:
  struct HalfOpen {
    std::shared_ptr<Connection> connection;
    std::string address;  // AddressGroup
    std::string prefix;   // AddressPrefix
    bool is_loopback = false;
    Standing standing = Standing::kUnnamed;  // kKnown after a member's key is proven
    base::Time since;
  };

  void OnSpoke(Caller caller);
  void OnLeftLobby(const AcceptedSocket& socket, const Closing& closing);
  void Refuse(const AcceptedSocket& socket, const std::string& reason);
  // Ends the oldest half-open connection of `standing` that is past its grace period, if there is
  // one.
  bool MakeRoom(base::Time now, Standing standing);
  void NoteMember(HalfOpen& entry);

  const AdmissionLimits limits_;
  const Events events_;
  Admission admission_;
  Lobby lobby_;
  std::map<const Connection*, HalfOpen> half_open_;
};

}  // namespace ostraka::net
