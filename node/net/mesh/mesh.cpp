#include "node/net/mesh/mesh.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/client_hello.h"
#include "node/os/steady_clock.h"
#include "node/wire/limits.h"

namespace ostraka::net {
namespace {

const Closing kDuplicate{Closing::Why::kDuplicate, "has another connection with us"};

std::uint64_t CapabilitiesOf(const TransportOptions& options) {
  return (options.allow_unhashed ? kCapabilityUnhashed : 0) |
         (options.lends_data ? kCapabilityLendsData : 0);
}

std::string Name(const Connection& connection) {
  if (!connection.peer()) return connection.remote();
  return connection.peer()->Short() + " at " + connection.remote();
}

}  // namespace

Mesh::Mesh(boost::asio::io_context& io, TransportOptions options, TlsContext tls,
           TransportEvents events)
    : options_(std::move(options)),
      events_(std::move(events)),
      rng_(crypto::RandomSeed()),
      instance_(rng_.Next()),
      last_link_id_(rng_.Next() >> 1),
      tally_(events_.notice, options_.admission.stranger_notices),
      pool_(io, options_, std::move(tls), *this),
      member_table_(io, options_.key->id(), options_.backoff,
                    options_.max_members + options_.strangers),
      reception_(
          io, options_.admission, AlpnOfRun(options_.run_id),
          std::min(options_.timeouts.opening, options_.timeouts.handshake),
          {.connect = [this](Caller caller) { return pool_.Accept(std::move(caller)); },
           .turned_away = [this](const std::string& remote,
                                 const Closing& closing) { OnTurnedAway(remote, closing); },
           .is_member = [this](const PeerId& peer) { return member_table_.IsMember(peer); },
           .vouches =
               [this](const std::string& group) { return member_table_.book().Vouches(group); }}),
      guests_(options_.strangers),
      guest_lines_(member_table_, guests_),
      ending_(io),
      look_timer_(io) {}

void Mesh::Start() {
  started_ = true;
  LookAtLinks();
  for (auto& [id, member] : member_table_.members()) DialFirst(member);
}

void Mesh::Send(const PeerId& to, SharedBytes frame, SharedBlob blob) {
  OSTRAKA_CHECK(frame != nullptr && !frame->empty() && frame->size() <= wire::kMaxFrameBytes);
  if (blob != nullptr) {
    OSTRAKA_CHECK(blob->size() <= options_.max_blob_bytes);
    OSTRAKA_CHECK(options_.allow_unhashed || !blob->root.is_zero());
  }
  Connection* const link = LinkOf(to);
  if (link == nullptr) return;
  link->Send(std::move(frame), blob == nullptr ? nullptr : outgoing_.Share(std::move(blob)));
  guest_lines_.Bound(to, pool_.limits().bulk_queue_bytes + pool_.limits().control_queue_bytes);
}

Connection* Mesh::LinkOf(const PeerId& peer) const {
  const Member* member = member_table_.Find(peer);
  return member != nullptr && member->choice.is_up() ? member->choice.link().get() : nullptr;
}

TransportCounters Mesh::counters() const {
  TransportCounters counters = tally_.counters();
  for (const auto& [id, member] : member_table_.members()) {
    counters.by_peer[id] = member.traffic;
    if (!member.told_refusal.empty()) counters.of_another[id] = member.told_refusal;
  }
  counters.half_open = reception_.size();
  counters.connections_open = reception_.waiting() + pool_.size();
  for (const std::shared_ptr<Connection>& connection : pool_.All()) {
    counters.queued_control_bytes += connection->queue().control_bytes();
    counters.queued_bulk_bytes += connection->queue().bulk_bytes();
  }
  return counters;
}

Member* Mesh::MemberOf(const Connection& connection) {
  return connection.peer() ? member_table_.Find(*connection.peer()) : nullptr;
}

void Mesh::LookAtLinks() {
  for (const auto& [id, member] : member_table_.members()) {
    if (member.choice.link() != nullptr) member.choice.link()->Look();
  }
  CheckInvariants();
  look_timer_.Start(options_.link.look, [this] { LookAtLinks(); });
}

// --- incoming ------------------------------------------------------------------------------------

void Mesh::Accept(AcceptedSocket socket) {
  tally_.CountAccepted();
  if (ending_.stopping()) {
    close(socket.fd);
    return;
  }
  reception_.Accept(std::move(socket));
}

void Mesh::OnAcceptFailed(const std::string& reason) {
  tally_.AcceptFailed(os::SteadyNow(), reason);
}

void Mesh::OnTurnedAway(const std::string& remote, const Closing& closing) {
  if (closing.why == Closing::Why::kRefused) tally_.CountRefusal(closing.refusal);
  tally_.StrangerLeft(os::SteadyNow(), remote, closing);
}

// --- which connection is the link ---------------------------------------------------------------

base::StatusOr<Hello> Mesh::OnAuthenticated(Connection& connection) {
  if (connection.peer() == member_table_.self()) {
    return base::FailedPrecondition("has our own identity key; each node needs its own");
  }
  RETURN_IF_ERROR(reception_.OnProven(connection));
  const Member* member = MemberOf(connection);
  return Hello{.version = options_.protocol_version,
               .run_id = options_.run_id,
               .capabilities = CapabilitiesOf(options_),
               .instance = instance_,
               .lost_link = member == nullptr ? 0 : member->choice.lost_link()};
}

void Mesh::OnHello(Connection& connection, const Hello& theirs) {
  if (MemberOf(connection) == nullptr) {
    const base::Status welcome = Welcome(connection);
    if (!welcome.ok()) {
      const Refusal refusal = options_.strangers == 0 ? Refusal::kIdentity : Refusal::kQuota;
      return connection.Close({Closing::Why::kRefused, base::MessageOf(welcome), refusal},
                              CloseCode::kRefused);
    }
  }
  Member* member = MemberOf(connection);
  if (member->forgotten) {
    return connection.Close(
        {Closing::Why::kRefused, "was removed from this run", Refusal::kIdentity},
        CloseCode::kLeaving);
  }
  if (ending_.parting() && member->parted) {
    return connection.Close({Closing::Why::kLocal, kLeavingReason}, CloseCode::kLeaving);
  }
  if (!member->choice.we_decide()) return;  // the other side says GO or closes
  if (member->choice.OnHello(theirs) == LinkChoice::Verdict::kDuplicate) {
    return connection.Close(kDuplicate, CloseCode::kDuplicate);
  }
  connection.SendGo(++last_link_id_);
  MakeLink(*member, connection, last_link_id_);
}

void Mesh::OnGo(Connection& connection, std::uint64_t link_id) {
  Member* member = MemberOf(connection);
  if (member == nullptr || member->choice.we_decide()) {
    return connection.Close(
        {Closing::Why::kRefused, "said GO, which is ours to say", Refusal::kRecord},
        CloseCode::kRefused);
  }
  const std::uint64_t instance = connection.their_hello().instance;
  if (member->choice.OnGo(instance, link_id) == LinkChoice::Verdict::kDuplicate) {
    return connection.Close(kDuplicate, CloseCode::kDuplicate);
  }
  MakeLink(*member, connection, link_id);
}

void Mesh::MakeLink(Member& member, Connection& connection, std::uint64_t link_id) {
  if (member.choice.link() != nullptr) {
    const std::shared_ptr<Connection> old = member.choice.link();
    EndLink(member,
            old->closing() ? old->why() : Closing{Closing::Why::kLost, "made a new connection"});
    old->Close(kDuplicate, CloseCode::kDuplicate);
    // The link(down) event closed it, and may have removed the member.
    if (connection.closing()) return;
  }
  connection.BecomeLink();
  reception_.Leave(connection);
  const std::shared_ptr<Connection>& link = pool_.At(connection);
  member.choice.Begin(link, link_id, connection.their_hello().instance, os::SteadyNow());
  guest_lines_.Tell(member.id);
  member.parted = false;  // a process that left may have been restarted
  member.told_refusal.clear();
  member.dialing.Cancel();
  const bool was_dialed = member.dialing.IsAttempt(connection);
  for (const std::shared_ptr<Connection>& dial : member.dialing.EndAll()) {
    if (dial != link) dial->Abort({Closing::Why::kLocal, "is linked already"});
  }
  member_table_.book().OnLinked(member.id, was_dialed ? connection.remote() : std::string());
  if (!was_dialed) member_table_.book().NoteIncoming(member.id, connection.remote());
  tally_.LinkUp(Name(connection));
  events_.link(PeerId(member.id), true);
  // What the event sent goes out first. The event may also have closed the connection, which is
  // harmless.
  if (ending_.parting()) connection.CloseWhenFlushed(kLeavingReason);
}

void Mesh::EndLink(Member& member, const Closing& closing) {
  const std::string name = Name(*member.choice.link());
  member.dialing.OnLinkEnded(member.choice.End(os::SteadyNow()));
  tally_.LinkDown(member.id, name, closing);
  // After a close of our own, redialing waits until it is known whether the close was answered.
  if (closing.why != Closing::Why::kLocal) ScheduleDial(member, member.dialing.NextWait(rng_));
  events_.link(PeerId(member.id), false);  // a copy, since the event may remove the member
}

void Mesh::OnMessage(Connection& connection, SharedBytes frame, SharedBlob blob) {
  events_.message(*connection.peer(), std::move(frame), std::move(blob));
}

void Mesh::OnData(Connection& connection, const DataRecord& record) {
  if (events_.data) events_.data(*connection.peer(), record);
}

void Mesh::OnDialBack(Connection& connection, const DialBackRecord& record) {
  if (events_.dial_back) events_.dial_back(*connection.peer(), record);
}

void Mesh::OnBytes(Connection& connection, const Traffic& added) {
  tally_.CountBytes(added);
  if (Member* member = MemberOf(connection)) AddTraffic(member->traffic, added);
}

void Mesh::OnClosing(Connection& connection, const Closing& closing) {
  if (closing.why == Closing::Why::kRefused) {
    tally_.CountRefusal(closing.refusal);
    reception_.OnRefused(connection);
  }
  if (departed_.erase(&connection) == 1) {  // the link of a member that was removed
    tally_.LinkDown(*connection.peer(), Name(connection), closing);
    return events_.link(*connection.peer(), false);
  }
  Member* member = MemberOf(connection);
  const bool is_link = member != nullptr && member->choice.link().get() == &connection;
  // (A connection older than the link speaks for a process that has ended.)
  if (closing.why == Closing::Why::kLeft && member != nullptr &&
      (is_link || !member->choice.link())) {
    member->parted = true;
  }
  if (is_link) {
    EndLink(*member, closing);
  } else if (member != nullptr && member->dialing.IsAttempt(connection)) {
    EndDial(*member, connection, closing);
  } else if (member != nullptr && closing.IsOfAnother()) {
    tally_.MemberOfAnother(Name(connection), closing, member->IsNews(closing));
  } else {
    tally_.StrangerLeft(os::SteadyNow(), Name(connection), closing);
  }
}

void Mesh::OnGone(Connection& connection) {
  reception_.Leave(connection);
  if (Member* member = MemberOf(connection); ending_.parting() && member != nullptr) {
    member->parted |= connection.delivered();
    // Our close was not answered: messages sent before it may be lost, so dial again.
    if (connection.why().why == Closing::Why::kLocal) {
      ScheduleDial(*member, member->dialing.NextWait(rng_));
    }
  }
  const std::optional<PeerId> peer = connection.peer();
  pool_.Release(connection);
  // Of a stranger nothing is kept beyond its connections.
  if (peer && pool_.Of(*peer).empty() && guests_.Leave(*peer)) {
    member_table_.Remove(*peer);
    reception_.SetMembers(member_table_.members().size());
  }
  StopOncePartedFromAll();
  if (ending_.stopping() && pool_.empty()) ending_.Finish();
}

// O(members): called at each look, and after each change of the members.
void Mesh::CheckInvariants() const {
  std::size_t up = departed_.size();
  for (const auto& [id, member] : member_table_.members()) {
    const bool is_linked = member.choice.link() != nullptr;
    up += is_linked ? 1 : 0;
    OSTRAKA_CHECK(!is_linked || !member.dialing.is_under_way());
    OSTRAKA_CHECK(!member.forgotten || !member.dialing.is_scheduled());
  }
  OSTRAKA_CHECK(up == tally_.counters().links_up);  // X4
  guests_.CheckInvariants();
}

}  // namespace ostraka::net
