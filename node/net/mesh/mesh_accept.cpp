// Incoming connections until they are links: admission and eviction (node/net/mesh/mesh.h).
#include <unistd.h>

#include <utility>

#include "node/base/check.h"
#include "node/net/mesh/mesh.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {

void Mesh::Accept(AcceptedSocket socket) {
  ++counters_.accepted;
  if (stopping_) {
    close(socket.fd);
    return;
  }
  const base::Status admitted =
      admission_.Admit(os::SteadyNow(), socket.address, socket.is_loopback);
  if (!admitted.ok()) return RefuseSocket(socket, base::MessageOf(admitted));
  admission_.Enter(socket.address);
  lobby_.Enter(std::move(socket));
}

void Mesh::OnLeftLobby(const AcceptedSocket& socket, const Closing& closing) {
  admission_.Leave(socket.address);
  const std::string line = socket.remote + " " + closing.reason;
  if (closing.why != Closing::Why::kRefused) return notices_.Say(NoticeLevel::kDebug, line);
  CountRefusal(closing.refusal);
  // A connection evicted from a full lobby has done nothing wrong.
  if (closing.refusal != Refusal::kQuota) {
    admission_.OnRefused(os::SteadyNow(), socket.address, socket.is_loopback);
  }
  notices_.SayOfStranger(os::SteadyNow(), line);
}

void Mesh::OnSpoke(Caller caller) {
  const AcceptedSocket socket = caller.socket;
  const base::Time now = os::SteadyNow();
  const Standing standing =
      admission_.StandingOf(socket.address, socket.is_loopback, caller.names_run);
  const auto refuse = [&](const std::string& reason) {
    admission_.Leave(socket.address);
    RefuseSocket(socket, reason);
  };
  const base::Status charged = admission_.Charge(now, socket.prefix, socket.is_loopback, standing);
  if (!charged.ok()) return refuse(base::MessageOf(charged));
  if (admission_.is_full(standing) && !MakeRoom(now, standing)) {
    return refuse("came while " + std::to_string(options_.admission.half_open) +
                  " connections were half-open");
  }
  admission_.Begin(standing);
  const auto connection = Connection::Accepted(io_, settings_, *this, std::move(caller));
  connections_.emplace(connection.get(), connection);
  half_open_.emplace(connection.get(),
                     HalfOpen{socket.address, socket.prefix, socket.is_loopback, standing, now});
  connection->Start();
}

void Mesh::NoteMember(const Connection& connection) {
  const auto entry = half_open_.find(&connection);
  if (entry == half_open_.end()) return;
  HalfOpen& half_open = entry->second;
  admission_.GiveBack(half_open.prefix, half_open.is_loopback, half_open.standing);
  admission_.End(half_open.standing);
  half_open.standing = Standing::kKnown;
  admission_.Begin(half_open.standing);
}

void Mesh::RefuseSocket(const AcceptedSocket& socket, const std::string& reason) {
  close(socket.fd);
  CountRefusal(Refusal::kQuota);
  notices_.SayOfStranger(os::SteadyNow(), socket.remote + " " + reason);
}

bool Mesh::MakeRoom(base::Time now, Standing standing) {
  const Connection* victim = nullptr;
  for (const auto& [connection, entry] : half_open_) {
    if (entry.standing != standing) continue;
    if (now - entry.since < options_.admission.half_open_grace) continue;
    if (victim == nullptr || entry.since < half_open_.at(victim).since) victim = connection;
  }
  if (victim == nullptr) return false;
  const std::shared_ptr<Connection> connection = connections_.at(victim);
  connection->Abort(
      {Closing::Why::kRefused, "gave way to others: it was half-open for long", Refusal::kQuota});
  LeaveHalfOpen(*connection);
  return true;
}

base::Status Mesh::CheckPeerQuota(const Connection& connection) const {
  const auto is_member = [this](const Connection& which) {
    const auto member = members_.find(which.peer().value_or(PeerId{}));
    return member != members_.end() && !member->second.forgotten;
  };
  if (!half_open_.contains(&connection)) return base::OkStatus();  // we dialed it
  std::size_t of_peer = 0;
  std::size_t of_others = 0;
  for (const auto& [which, entry] : half_open_) {
    if (which == &connection || !which->peer()) continue;
    if (which->peer() == connection.peer()) ++of_peer;
    if (!is_member(*which)) ++of_others;
  }
  if (is_member(connection) && of_peer >= options_.admission.half_open_per_member) {
    return base::Unavailable("has " + std::to_string(of_peer) + " other connections half-open");
  }
  if (!is_member(connection) && of_others >= options_.admission.non_members) {
    return base::Unavailable("is not a member of this run, like " + std::to_string(of_others) +
                             " others that are connected");
  }
  return base::OkStatus();
}

void Mesh::OnAcceptFailed(const std::string& reason) {
  notices_.SayOfStranger(os::SteadyNow(), "cannot accept connections: " + reason);
}

void Mesh::LeaveHalfOpen(const Connection& connection) {
  const auto entry = half_open_.find(&connection);
  if (entry == half_open_.end()) return;
  admission_.Leave(entry->second.address);
  admission_.End(entry->second.standing);
  half_open_.erase(entry);
}

}  // namespace ostraka::net
