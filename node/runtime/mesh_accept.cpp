// Connections from outside until they are links: who is let in, and who gives way
// (node/runtime/mesh.h).
#include <unistd.h>

#include <utility>

#include "node/base/check.h"
#include "node/runtime/mesh.h"
#include "node/runtime/steady_clock.h"

namespace ostraka::runtime {

void Mesh::Accept(AcceptedSocket socket) {
  ++counters_.accepted;
  if (stopping_) {
    close(socket.fd);
    return;
  }
  const base::Time now = SteadyNow();
  const base::Status admitted = admission_.Admit(now, socket.address, socket.is_loopback);
  if (!admitted.ok()) return RefuseSocket(socket, base::MessageOf(admitted));
  const bool is_stranger = !admission_.is_known(socket.address, socket.is_loopback);
  if (is_stranger && admission_.is_full() && !MakeRoom(now)) {
    return RefuseSocket(socket, "came while " + std::to_string(options_.limits.half_open) +
                                    " connections were half-open");
  }
  admission_.Enter(socket.address, socket.is_loopback);
  const auto connection =
      Connection::Accepted(io_, settings_, *this, socket.fd, std::move(socket.remote));
  connections_.emplace(connection.get(), connection);
  half_open_.emplace(connection.get(),
                     HalfOpen{std::move(socket.address), socket.is_loopback, now});
  connection->Start();
}

void Mesh::RefuseSocket(const AcceptedSocket& socket, const std::string& reason) {
  close(socket.fd);
  CountRefusal(Refusal::kQuota);
  notices_.SayOfStranger(SteadyNow(), socket.remote + " " + reason);
}

bool Mesh::MakeRoom(base::Time now) {
  const Connection* victim = nullptr;
  const auto hope = [this](const Connection& connection) {
    return std::pair(Find(connection.peer().value_or(PeerId{})) != nullptr,
                     half_open_.at(&connection).since);
  };
  for (const auto& [connection, entry] : half_open_) {
    if (now - entry.since < options_.limits.half_open_grace) continue;
    if (admission_.is_known(entry.address, entry.is_loopback)) continue;
    if (victim == nullptr || hope(*connection) < hope(*victim)) victim = connection;
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
  if (is_member(connection) && of_peer >= options_.limits.half_open_per_member) {
    return base::Unavailable("has " + std::to_string(of_peer) + " other connections half-open");
  }
  if (!is_member(connection) && of_others >= options_.limits.non_members) {
    return base::Unavailable("is not a member of this run, like " + std::to_string(of_others) +
                             " others that are connected");
  }
  return base::OkStatus();
}

void Mesh::OnAcceptFailed(const std::string& reason) {
  notices_.SayOfStranger(SteadyNow(), "cannot accept connections: " + reason);
}

void Mesh::LeaveHalfOpen(const Connection& connection) {
  const auto entry = half_open_.find(&connection);
  if (entry == half_open_.end()) return;
  admission_.Leave(entry->second.address, entry->second.is_loopback);
  half_open_.erase(entry);
}

}  // namespace ostraka::runtime
