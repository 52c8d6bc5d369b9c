// The members of a run and the connections to them: chooses the link among several connections,
// dials, and admits incoming connections.
//
// INVARIANT: both ends agree on the link, and a link in use is not replaced without proof that it
// is dead. The side with the smaller id decides alone: it sends GO on the first connection whose
// HELLO it has accepted and closes the others as duplicates. A new connection replaces a link only
// if its HELLO proves the link dead: by another instance (the peer restarted) or by naming the link
// as lost (docs/decisions/0003-channel.md).
//
// mesh_accept.cpp handles incoming connections, mesh_end.cpp shutdown, mesh.cpp the rest.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "node/base/rng.h"
#include "node/net/link/connection.h"
#include "node/net/link/pacer.h"
#include "node/net/mesh/admission.h"
#include "node/net/mesh/backoff.h"
#include "node/net/mesh/listener.h"
#include "node/net/mesh/lobby.h"
#include "node/net/mesh/notices.h"
#include "node/net/mesh/transport.h"
#include "node/os/timer.h"

namespace ostraka::net {

class Mesh final : private ConnectionOwner {
 public:
  // REQUIRES: the members have valid addresses, no two share an id, and none is this node.
  Mesh(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
       TransportEvents events);
  ~Mesh() override;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  // These promise what Transport's functions of equal name promise.
  void Start();
  void Send(const PeerId& to, SharedBytes frame, SharedBlob blob);
  void Forget(const PeerId& peer);
  void Part(Duration deadline, std::function<void()> done);
  void Shutdown(Duration deadline, std::function<void()> done);
  bool IsUp(const PeerId& peer) const;
  TransportCounters counters() const;

  // Takes an incoming connection; refuses it at once if too many are half-open.
  void Accept(AcceptedSocket socket);
  void OnAcceptFailed(const std::string& reason);

 private:
  static constexpr char kLeavingReason[] = "shutting down";

  struct Member {
    Member(boost::asio::io_context& io, const TransportMember& who, const TransportBackoff& waits)
        : id(who.id), address(who.address), dial_timer(io), backoff(waits) {}

    const PeerId id;
    const std::string address;  // empty: never dialed
    bool forgotten = false;
    bool parted = false;  // it announced that it needs nothing more, or has read our last messages
    std::shared_ptr<Connection> link;  // null: down
    std::uint64_t link_id = 0;         // of the current or last link
    std::uint64_t link_instance = 0;   // the peer's process instance on that link
    std::uint64_t lost_link = 0;       // the last link that went down
    base::Time up_since;
    std::shared_ptr<Connection> dial;  // current dial attempt, not yet the link
    os::Timer dial_timer;
    Backoff backoff;
    std::string last_failure;  // already reported
    Traffic traffic;
  };

  // An incoming connection in a handshake.
  struct HalfOpen {
    std::string address;  // AddressGroup
    std::string prefix;   // AddressPrefix
    bool is_loopback = false;
    Standing standing = Standing::kUnnamed;  // kKnown after a member's key is proven
    base::Time since;
  };

  base::StatusOr<Hello> OnAuthenticated(Connection& connection) override;
  void OnHello(Connection& connection, const Hello& theirs) override;
  void OnGo(Connection& connection, std::uint64_t link_id) override;
  void OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) override;
  void OnBytes(Connection& connection, const Traffic& added) override;
  void OnClosing(Connection& connection, const Closing& closing) override;
  void OnGone(Connection& connection) override;

  // Null: not a member, or unknown so far.
  Member* Find(const PeerId& id);
  Member* MemberOf(const Connection& connection);
  void Decide(Member& member, Connection& connection, const Hello& theirs);
  void MakeLink(Member& member, Connection& connection, std::uint64_t link_id);
  void EndLink(Member& member, const Closing& closing);
  void EndDial(Member& member, const Closing& closing);
  void EndStranger(const Connection& connection, const Closing& closing);
  bool MayDial(const Member& member) const;
  void ScheduleDial(Member& member, Duration wait);
  void Dial(Member& member);
  void CountRefusal(Refusal refusal);
  // Events of connections that leave the lobby.
  void OnSpoke(Caller caller);
  void OnLeftLobby(const AcceptedSocket& socket, const Closing& closing);
  // Ends the oldest half-open connection of `standing` that is past its grace period, if there is
  // one.
  bool MakeRoom(base::Time now, Standing standing);
  void RefuseSocket(const AcceptedSocket& socket, const std::string& reason);
  // The connection has proven a member's key: refunds its handshake.
  void NoteMember(const Connection& connection);
  // OK unless its peer, or all non-members together, already have too many connections.
  base::Status CheckPeerQuota(const Connection& connection) const;
  void LeaveHalfOpen(const Connection& connection);
  std::shared_ptr<OutgoingBlob> Share(SharedBlob blob);
  // Ends at the latest after `deadline`.
  void BeginEnd(Duration deadline, std::function<void()> done);
  void OnEndDeadline();
  void Stop();
  void StopOncePartedFromAll();
  void FinishShutdown();
  void LookAtLinks();

  boost::asio::io_context& io_;
  const TransportOptions options_;
  Pacer sending_;
  Pacer receiving_;
  const ConnectionSettings settings_;
  const TransportEvents events_;
  const PeerId self_;
  base::Rng rng_;  // for jitter and the ids of this process
  const std::uint64_t instance_;
  // Last link id that this node issued. Ids grow, so that a late GO is recognized, and start at a
  // random value, so that a peer cannot confuse a link of a previous process with a current one.
  std::uint64_t last_link_id_;
  Notices notices_;
  TransportCounters counters_;

  std::map<PeerId, Member> members_;
  std::map<const Connection*, std::shared_ptr<Connection>> connections_;  // all until OnGone
  std::map<const Connection*, HalfOpen> half_open_;                       // accepted and not a link
  Admission admission_;
  Lobby lobby_;
  // Shared so that a blob sent to many peers is hashed once.
  std::map<const crypto::Blob*, std::weak_ptr<OutgoingBlob>> outgoing_;

  bool parting_ = false;   // each link closes once its queue is sent
  bool stopping_ = false;  // no more accepting or dialing
  std::function<void()> done_;
  os::Timer end_timer_;
  os::Timer look_timer_;
};

}  // namespace ostraka::net
