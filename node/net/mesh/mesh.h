// The members of a run and the connections to them: which connection is the link, whom to dial
// when, who gets in.
//
// Which of several connections becomes the link is decided by one side alone, the smaller id: it
// sends GO on the first whose HELLO it has accepted and closes the others as duplicates. So both
// ends always agree, and a link in use is never given up for another: a new connection replaces it
// only if the HELLO on it proves the old one dead, by another instance (the peer restarted) or by
// naming the link as lost (docs/decisions/0003-channel.md).
//
// mesh_accept.cpp has connections from outside, mesh_end.cpp how all ends, mesh.cpp the rest.
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
  // REQUIRES: the members have addresses that parse, no two have the same id, none is ourselves.
  Mesh(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
       TransportEvents events);
  ~Mesh() override;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  // What the functions of Transport with these names promise.
  void Start();
  void Send(const PeerId& to, SharedBytes frame, SharedBlob blob);
  void Forget(const PeerId& peer);
  void Part(Duration deadline, std::function<void()> done);
  void Shutdown(Duration deadline, std::function<void()> done);
  bool IsUp(const PeerId& peer) const;
  TransportCounters counters() const;

  // A connection from outside; refused at once if too many are half-open.
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
    bool parted = false;  // it said that it needs nothing more, or that it read our last words
    std::shared_ptr<Connection> link;  // null: down
    std::uint64_t link_id = 0;         // of the link now or last
    std::uint64_t link_instance = 0;   // the peer's process at the other end of it
    std::uint64_t lost_link = 0;       // the last link that went down
    base::Time up_since;
    std::shared_ptr<Connection> dial;  // our attempt under way, not yet the link
    os::Timer dial_timer;
    Backoff backoff;
    std::string last_failure;  // said already
    Traffic traffic;
  };

  // A connection from outside that is in a handshake.
  struct HalfOpen {
    std::string address;  // AddressGroup
    std::string prefix;   // AddressPrefix
    bool is_loopback = false;
    Standing standing = Standing::kUnnamed;  // kKnown once a member's key is proven
    base::Time since;
  };

  base::StatusOr<Hello> OnAuthenticated(Connection& connection) override;
  void OnHello(Connection& connection, const Hello& theirs) override;
  void OnGo(Connection& connection, std::uint64_t link_id) override;
  void OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) override;
  void OnBytes(Connection& connection, const Traffic& added) override;
  void OnClosing(Connection& connection, const Closing& closing) override;
  void OnGone(Connection& connection) override;

  // Null: not a member, or not known yet.
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
  // Of one who waits in the lobby, and no longer does.
  void OnSpoke(Caller caller);
  void OnLeftLobby(const AcceptedSocket& socket, const Closing& closing);
  // Ends the half-open connection of that standing that hopes least, if one has had its time.
  bool MakeRoom(base::Time now, Standing standing);
  void RefuseSocket(const AcceptedSocket& socket, const std::string& reason);
  // It has proven the key of a member, who pays for no handshake.
  void NoteMember(const Connection& connection);
  // OK unless there are too many connections already of its peer, or of peers that are no members.
  base::Status CheckPeerQuota(const Connection& connection) const;
  void LeaveHalfOpen(const Connection& connection);
  std::shared_ptr<OutgoingBlob> Share(SharedBlob blob);
  // Ends `deadline` from now at the latest.
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
  base::Rng rng_;  // jitter and ids of this process
  const std::uint64_t instance_;
  // Ids of the links that we decide: they grow, so that a late GO is known for one, and start
  // anywhere, so that a peer cannot take one of our last life for one of this.
  std::uint64_t last_link_id_;
  Notices notices_;
  TransportCounters counters_;

  std::map<PeerId, Member> members_;
  std::map<const Connection*, std::shared_ptr<Connection>> connections_;  // all that are not gone
  std::map<const Connection*, HalfOpen> half_open_;                       // accepted, not a link
  Admission admission_;
  Lobby lobby_;
  // The same blob on its way to many peers is hashed once.
  std::map<const crypto::Blob*, std::weak_ptr<OutgoingBlob>> outgoing_;

  bool parting_ = false;   // links are closed as soon as what is sent on them has gone
  bool stopping_ = false;  // nobody is let in or dialed any more
  std::function<void()> done_;
  os::Timer end_timer_;
  os::Timer look_timer_;
};

}  // namespace ostraka::net
