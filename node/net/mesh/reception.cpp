#include "node/net/mesh/reception.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "node/base/check.h"
#include "node/os/steady_clock.h"

namespace ostraka::net {

Reception::Reception(boost::asio::io_context& io, const AdmissionLimits& limits, std::string alpn,
                     base::Duration patience, Events events)
    : limits_(limits),
      events_(std::move(events)),
      admission_(limits, 0),
      lobby_(io, std::move(alpn), limits.waiting, patience,
             {.spoke = [this](Caller caller) { OnSpoke(std::move(caller)); },
              .left = [this](const AcceptedSocket& socket,
                             const Closing& closing) { OnLeftLobby(socket, closing); }}) {}

// --- before TLS ----------------------------------------------------------------------------------

void Reception::Accept(AcceptedSocket socket) {
  const base::Status admitted =
      admission_.Admit(os::SteadyNow(), socket.address, socket.is_loopback);
  if (!admitted.ok()) return Refuse(socket, base::MessageOf(admitted));
  admission_.Enter(socket.address);
  lobby_.Enter(std::move(socket));
}

void Reception::OnLeftLobby(const AcceptedSocket& socket, const Closing& closing) {
  admission_.Leave(socket.address);
  // A connection evicted from a full lobby has done nothing wrong.
  if (closing.why == Closing::Why::kRefused && closing.refusal != Refusal::kQuota) {
    admission_.OnRefused(os::SteadyNow(), socket.address, socket.is_loopback);
  }
  events_.turned_away(socket.remote, closing);
}

void Reception::Refuse(const AcceptedSocket& socket, const std::string& reason) {
  close(socket.fd);
  events_.turned_away(socket.remote, {Closing::Why::kRefused, reason, Refusal::kQuota});
}

void Reception::OnSpoke(Caller caller) {
  const AcceptedSocket socket = caller.socket;
  const base::Time now = os::SteadyNow();
  const Standing standing =
      Admission::StandingOf(events_.vouches(socket.address), socket.is_loopback, caller.names_run);
  const auto refuse = [&](const std::string& reason) {
    admission_.Leave(socket.address);
    Refuse(socket, reason);
  };
  const base::Status charged = admission_.Charge(now, socket.prefix, socket.is_loopback, standing);
  if (!charged.ok()) return refuse(base::MessageOf(charged));
  if (admission_.is_full(standing) && !MakeRoom(now, standing)) {
    return refuse("came while " + std::to_string(limits_.half_open) +
                  " connections were half-open");
  }
  admission_.Begin(standing);
  const std::shared_ptr<Connection> connection = events_.connect(std::move(caller));
  half_open_.emplace(connection.get(), HalfOpen{connection, socket.address, socket.prefix,
                                                socket.is_loopback, standing, now});
  CheckInvariants();
  connection->Start();
}

// --- half-open -----------------------------------------------------------------------------------

bool Reception::MakeRoom(base::Time now, Standing standing) {
  const HalfOpen* victim = nullptr;
  for (const auto& [key, entry] : half_open_) {
    if (entry.standing != standing) continue;
    if (now - entry.since < limits_.half_open_grace) continue;
    if (victim == nullptr || entry.since < victim->since) victim = &entry;
  }
  if (victim == nullptr) return false;
  const std::shared_ptr<Connection> connection = victim->connection;
  connection->Abort(
      {Closing::Why::kRefused, "gave way to others: it was half-open for long", Refusal::kQuota});
  Leave(*connection);
  return true;
}

base::Status Reception::OnProven(const Connection& connection) {
  const auto own = half_open_.find(&connection);
  if (own == half_open_.end()) return base::OkStatus();  // we dialed it
  const bool is_member = events_.is_member(*connection.peer());
  std::size_t of_peer = 0;
  std::size_t of_others = 0;
  for (const auto& [which, entry] : half_open_) {
    if (which == &connection || !which->peer()) continue;
    if (which->peer() == connection.peer()) ++of_peer;
    if (!events_.is_member(*which->peer())) ++of_others;
  }
  if (is_member && of_peer >= limits_.half_open_per_member) {
    return base::Unavailable("has " + std::to_string(of_peer) + " other connections half-open");
  }
  if (!is_member && of_others >= limits_.non_members) {
    return base::Unavailable("is not a member of this run, like " + std::to_string(of_others) +
                             " others that are connected");
  }
  if (is_member) NoteMember(own->second);
  return base::OkStatus();
}

void Reception::NoteMember(HalfOpen& entry) {
  admission_.GiveBack(entry.prefix, entry.is_loopback, entry.standing);
  admission_.End(entry.standing);
  entry.standing = Standing::kKnown;
  admission_.Begin(entry.standing);
}

std::string Reception::NetworkOf(const Connection& connection) const {
  const auto entry = half_open_.find(&connection);
  return entry == half_open_.end() || entry->second.is_loopback ? "" : entry->second.prefix;
}

void Reception::OnRefused(const Connection& connection) {
  const auto entry = half_open_.find(&connection);
  if (entry == half_open_.end()) return;
  admission_.OnRefused(os::SteadyNow(), entry->second.address, entry->second.is_loopback);
}

void Reception::Leave(const Connection& connection) {
  const auto entry = half_open_.find(&connection);
  if (entry == half_open_.end()) return;
  admission_.Leave(entry->second.address);
  admission_.End(entry->second.standing);
  half_open_.erase(entry);
}

void Reception::CheckInvariants() const {
  std::array<std::size_t, kStandings> of_standing{};
  for (const auto& [key, entry] : half_open_) {
    OSTRAKA_CHECK(entry.connection.get() == key);
    ++of_standing[static_cast<std::size_t>(entry.standing)];
  }
  OSTRAKA_CHECK(of_standing == admission_.handshakes());                  // R1
  OSTRAKA_CHECK(admission_.open() == half_open_.size() + lobby_.size());  // R1
  for (const Standing standing : {Standing::kAsker, Standing::kUnnamed}) {
    OSTRAKA_CHECK(of_standing[static_cast<std::size_t>(standing)] <= limits_.half_open);  // R2
  }
}

}  // namespace ostraka::net
