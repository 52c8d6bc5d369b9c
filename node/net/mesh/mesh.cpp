#include "node/net/mesh/mesh.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "node/base/check.h"
#include "node/net/link/client_hello.h"
#include "node/os/endpoint.h"
#include "node/os/steady_clock.h"
#include "node/wire/limits.h"

namespace ostraka::net {
namespace {

const Closing kDuplicate{Closing::Why::kDuplicate, "has another connection with us"};

std::string Name(const Connection& connection) {
  if (!connection.peer()) return connection.remote();
  return connection.peer()->Short() + " at " + connection.remote();
}

// The limits with defaults resolved from the other options.
LinkLimits EffectiveLimits(const TransportOptions& options) {
  LinkLimits limits = options.link;
  if (limits.bulk_queue_bytes == 0) {
    constexpr std::uint64_t kBlobs = 64;
    constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
    limits.bulk_queue_bytes = std::max(kLeast, options.max_blob_bytes > ~std::uint64_t{0} / kBlobs
                                                   ? ~std::uint64_t{0}
                                                   : kBlobs * options.max_blob_bytes);
  }
  // Granted bulk arrives at once, so under a rate cap the credit must be small.
  if (options.max_bytes_per_second > 0) limits.credit_bytes = kInitialCredit;
  limits.credit_bytes = std::max(limits.credit_bytes, kInitialCredit);
  return limits;
}

std::set<std::string> KnownAddresses(const std::vector<TransportMember>& members) {
  std::set<std::string> known;
  for (const TransportMember& member : members) {
    const base::StatusOr<os::HostPort> where = os::ParseHostPort(member.address);
    const std::string group = where.ok() ? os::AddressGroup(where->host) : "";
    if (!group.empty()) known.insert(group);
  }
  return known;
}

}  // namespace

Mesh::Mesh(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
           TransportEvents events)
    : io_(io),
      options_(std::move(options)),
      sending_(io, options_.max_bytes_per_second),
      receiving_(io, options_.max_bytes_per_second),
      settings_{.tls = std::move(tls),
                .sending = &sending_,
                .receiving = &receiving_,
                .max_blob_bytes = options_.max_blob_bytes,
                .allow_unhashed = options_.allow_unhashed,
                .timeouts = options_.timeouts,
                .limits = EffectiveLimits(options_)},
      events_(std::move(events)),
      self_(options_.key->id()),
      rng_(crypto::RandomSeed()),
      instance_(rng_.Next()),
      last_link_id_(rng_.Next() >> 1),
      notices_(events_.notice, options_.admission.stranger_notices),
      admission_(options_.admission, options_.members.size(), KnownAddresses(options_.members)),
      lobby_(io, AlpnOfRun(options_.run_id), options_.admission.waiting,
             std::min(options_.timeouts.opening, options_.timeouts.handshake),
             {.spoke = [this](Caller caller) { OnSpoke(std::move(caller)); },
              .left = [this](const AcceptedSocket& socket,
                             const Closing& closing) { OnLeftLobby(socket, closing); }}),
      end_timer_(io),
      look_timer_(io) {
  for (const TransportMember& member : options_.members) {
    members_.try_emplace(member.id, io, member, options_.backoff);
  }
}

Mesh::~Mesh() {
  for (const auto& [key, connection] : connections_) connection->Abandon();
}

void Mesh::Start() {
  LookAtLinks();
  for (auto& [id, member] : members_) {
    // If both sides dialed at once, one of the two handshakes would be wasted.
    if (self_ < id) {
      Dial(member);
    } else {
      ScheduleDial(member, options_.backoff.stagger);
    }
  }
}

void Mesh::Send(const PeerId& to, SharedBytes frame, SharedBlob blob) {
  OSTRAKA_CHECK(frame != nullptr && !frame->empty() && frame->size() <= wire::kMaxFrameBytes);
  if (blob != nullptr) {
    OSTRAKA_CHECK(blob->data.size() <= options_.max_blob_bytes);
    OSTRAKA_CHECK(options_.allow_unhashed || !blob->root.is_zero());
  }
  if (!IsUp(to)) return;
  Find(to)->link->Send(std::move(frame), blob == nullptr ? nullptr : Share(std::move(blob)));
}

std::shared_ptr<OutgoingBlob> Mesh::Share(SharedBlob blob) {
  std::weak_ptr<OutgoingBlob>& known = outgoing_[blob.get()];
  std::shared_ptr<OutgoingBlob> shared = known.lock();
  if (shared == nullptr) {
    shared = std::make_shared<OutgoingBlob>(std::move(blob));
    known = shared;
    std::erase_if(outgoing_, [](const auto& entry) { return entry.second.expired(); });
  }
  return shared;
}

void Mesh::Forget(const PeerId& peer) {
  Member* member = Find(peer);
  if (member == nullptr || member->forgotten) return;
  member->forgotten = true;
  member->dial_timer.Cancel();
  for (const auto& [key, connection] : connections_) {
    if (connection->peer() == peer) {
      connection->Close({Closing::Why::kLocal, "was removed from this run"}, CloseCode::kLeaving);
    }
  }
  StopOncePartedFromAll();
}

bool Mesh::IsUp(const PeerId& peer) const {
  const auto member = members_.find(peer);
  if (member == members_.end()) return false;
  const std::shared_ptr<Connection>& link = member->second.link;
  return link != nullptr && !link->closing();
}

TransportCounters Mesh::counters() const {
  TransportCounters counters = counters_;
  for (const auto& [id, member] : members_) counters.by_peer[id] = member.traffic;
  counters.half_open = lobby_.size() + half_open_.size();
  counters.connections_open = lobby_.size() + connections_.size();
  for (const auto& [key, connection] : connections_) {
    counters.queued_control_bytes += connection->queue().control_bytes();
    counters.queued_bulk_bytes += connection->queue().bulk_bytes();
  }
  return counters;
}

Mesh::Member* Mesh::Find(const PeerId& id) {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : &found->second;
}

Mesh::Member* Mesh::MemberOf(const Connection& connection) {
  return connection.peer() ? Find(*connection.peer()) : nullptr;
}

void Mesh::LookAtLinks() {
  for (const auto& [id, member] : members_) {
    if (member.link != nullptr) member.link->Look();
  }
  look_timer_.Start(options_.link.look, [this] { LookAtLinks(); });
}

// --- which connection is the link ---------------------------------------------------------------

base::StatusOr<Hello> Mesh::OnAuthenticated(Connection& connection) {
  if (connection.peer() == self_) {
    return base::FailedPrecondition("has our own identity key; each node needs its own");
  }
  RETURN_IF_ERROR(CheckPeerQuota(connection));
  const Member* member = MemberOf(connection);
  if (member != nullptr && !member->forgotten) NoteMember(connection);
  return Hello{.version = options_.protocol_version,
               .run_id = options_.run_id,
               .capabilities = options_.allow_unhashed ? kCapabilityUnhashed : 0,
               .instance = instance_,
               .lost_link = member == nullptr ? 0 : member->lost_link};
}

void Mesh::OnHello(Connection& connection, const Hello& theirs) {
  Member* member = MemberOf(connection);
  if (member == nullptr) {
    return connection.Close(
        {Closing::Why::kRefused, "is not a member of this run", Refusal::kIdentity},
        CloseCode::kRefused);
  }
  if (member->forgotten) {
    return connection.Close(
        {Closing::Why::kRefused, "was removed from this run", Refusal::kIdentity},
        CloseCode::kLeaving);
  }
  if (parting_ && member->parted) {
    return connection.Close({Closing::Why::kLocal, kLeavingReason}, CloseCode::kLeaving);
  }
  if (self_ < member->id) Decide(*member, connection, theirs);
  // Otherwise the other side decides: it sends GO or closes.
}

void Mesh::Decide(Member& member, Connection& connection, const Hello& theirs) {
  if (member.link != nullptr && !member.link->closing()) {
    const bool is_dead =
        theirs.instance != member.link_instance || theirs.lost_link == member.link_id;
    if (!is_dead) {
      return connection.Close(kDuplicate, CloseCode::kDuplicate);
    }
  }
  connection.SendGo(++last_link_id_);
  MakeLink(member, connection, last_link_id_);
}

void Mesh::OnGo(Connection& connection, std::uint64_t link_id) {
  Member* member = MemberOf(connection);
  if (member == nullptr || self_ < member->id) {
    return connection.Close(
        {Closing::Why::kRefused, "said GO, which is ours to say", Refusal::kRecord},
        CloseCode::kRefused);
  }
  const bool is_late = member->link != nullptr &&
                       connection.their_hello().instance == member->link_instance &&
                       link_id < member->link_id;
  if (is_late) {
    return connection.Close(kDuplicate, CloseCode::kDuplicate);
  }
  MakeLink(*member, connection, link_id);
}

void Mesh::MakeLink(Member& member, Connection& connection, std::uint64_t link_id) {
  if (member.link != nullptr) {
    const std::shared_ptr<Connection> old = member.link;
    EndLink(member,
            old->closing() ? old->why() : Closing{Closing::Why::kLost, "made a new connection"});
    old->Close(kDuplicate, CloseCode::kDuplicate);
    if (connection.closing()) return;  // the link(down) event closed it
  }
  connection.BecomeLink();
  LeaveHalfOpen(connection);
  member.link = connections_.at(&connection);
  member.parted = false;  // a process that left may have been restarted
  member.link_id = link_id;
  member.link_instance = connection.their_hello().instance;
  member.up_since = os::SteadyNow();
  member.last_failure.clear();
  member.dial_timer.Cancel();
  const std::shared_ptr<Connection> dial = std::exchange(member.dial, nullptr);
  if (dial != nullptr && dial != member.link) {
    dial->Abort({Closing::Why::kLocal, "is linked already"});
  }
  ++counters_.links;
  ++counters_.links_up;
  notices_.Say(NoticeLevel::kInfo, "linked with " + Name(connection));
  events_.link(member.id, true);
  // What the event sent goes out first. The event may also have closed the connection, which is
  // harmless.
  if (parting_) connection.CloseWhenFlushed(kLeavingReason);
}

void Mesh::EndLink(Member& member, const Closing& closing) {
  const std::string name = Name(*member.link);
  member.link = nullptr;
  member.lost_link = member.link_id;
  member.backoff.OnLinkEnded(os::SteadyNow() - member.up_since);
  --counters_.links_up;
  notices_.Say(closing.why == Closing::Why::kRefused ? NoticeLevel::kWarning : NoticeLevel::kInfo,
               "link with " + name + " is down: it " + closing.reason);
  // After a close of our own, redialing waits until it is known whether the close was answered.
  if (closing.why != Closing::Why::kLocal) ScheduleDial(member, member.backoff.Next(rng_));
  events_.link(member.id, false);
}

void Mesh::OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) {
  events_.message(*connection.peer(), std::move(frame), std::move(blob));
}

void Mesh::OnBytes(Connection& connection, const Traffic& added) {
  const auto add = [&added](Traffic& sum) {
    sum.control_sent += added.control_sent;
    sum.control_received += added.control_received;
    sum.payload_sent += added.payload_sent;
    sum.payload_received += added.payload_received;
  };
  add(counters_.total);
  if (Member* member = MemberOf(connection)) add(member->traffic);
}

void Mesh::OnClosing(Connection& connection, const Closing& closing) {
  if (closing.why == Closing::Why::kRefused) {
    CountRefusal(closing.refusal);
    const auto entry = half_open_.find(&connection);
    if (entry != half_open_.end()) {
      admission_.OnRefused(os::SteadyNow(), entry->second.address, entry->second.is_loopback);
    }
  }
  Member* member = MemberOf(connection);
  const bool is_link = member != nullptr && member->link.get() == &connection;
  // (A connection older than the link speaks for a process that has ended.)
  if (closing.why == Closing::Why::kLeft && member != nullptr && (is_link || !member->link)) {
    member->parted = true;
  }
  if (is_link) {
    EndLink(*member, closing);
  } else if (member != nullptr && member->dial.get() == &connection) {
    EndDial(*member, closing);
  } else {
    EndStranger(connection, closing);
  }
}

void Mesh::EndStranger(const Connection& connection, const Closing& closing) {
  const std::string line = Name(connection) + " " + closing.reason;
  if (closing.why == Closing::Why::kRefused) {
    notices_.SayOfStranger(os::SteadyNow(), line);
  } else {
    notices_.Say(NoticeLevel::kDebug, line);
  }
}

void Mesh::CountRefusal(Refusal refusal) {
  ++counters_.refused;
  ++counters_.refused_by[static_cast<std::size_t>(refusal)];
}

void Mesh::OnGone(Connection& connection) {
  LeaveHalfOpen(connection);
  if (Member* member = MemberOf(connection); parting_ && member != nullptr) {
    member->parted |= connection.delivered();
    // Our close was not answered: messages sent before it may be lost, so dial again.
    if (connection.why().why == Closing::Why::kLocal) {
      ScheduleDial(*member, member->backoff.Next(rng_));
    }
  }
  connections_.erase(&connection);
  StopOncePartedFromAll();
  if (stopping_ && connections_.empty()) FinishShutdown();
}

// --- dialing ------------------------------------------------------------------------------------

bool Mesh::MayDial(const Member& member) const {
  return !stopping_ && !member.forgotten && !(parting_ && member.parted) && !member.address.empty();
}

void Mesh::ScheduleDial(Member& member, Duration wait) {
  if (!MayDial(member)) return;
  member.dial_timer.Start(wait, [this, &member] { Dial(member); });
}

void Mesh::Dial(Member& member) {
  if (!MayDial(member)) return;
  if (member.link != nullptr || member.dial != nullptr) return;
  ++counters_.dialed;
  member.dial = Connection::Dialed(io_, settings_, *this, member.id, member.address);
  connections_.emplace(member.dial.get(), member.dial);
  member.dial->Start();
}

void Mesh::EndDial(Member& member, const Closing& closing) {
  const std::string name = Name(*member.dial);
  member.dial = nullptr;
  if (closing.why == Closing::Why::kDuplicate) {
    // The other connection is about to become the link; dial again in case it does not.
    return ScheduleDial(member, options_.backoff.first);
  }
  // Report a failure only when its reason changes: a member may be away for hours.
  const bool is_news = closing.reason != member.last_failure;
  const NoticeLevel level =
      closing.why == Closing::Why::kRefused ? NoticeLevel::kWarning : NoticeLevel::kInfo;
  notices_.Say(is_news ? level : NoticeLevel::kDebug, name + " " + closing.reason);
  member.last_failure = closing.reason;
  ScheduleDial(member, member.backoff.Next(rng_));
}

}  // namespace ostraka::net
