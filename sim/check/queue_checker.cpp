#include "sim/check/queue_checker.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "node/protocol/mail/ration.h"
#include "node/protocol/sync/catch_up.h"
#include "node/wire/codec.h"

namespace ostraka::sim {
namespace {

std::uint64_t SizeOf(const base::SharedBytes& frame, const protocol::SharedBlob& blob) {
  return frame->size() + (blob ? blob->size() : 0);
}

}  // namespace

QueueBounds BoundsOf(std::uint32_t peers, std::uint64_t dimension, base::Duration hold,
                     base::Duration delta, std::uint32_t nat) {
  const std::size_t n = peers;
  QueueBounds bounds;
  // Timers: the phase's deadline, bulk data, the seal, requests, the PROOF, and the way back.
  bounds.timers = 6;
  // A step asks for nine jobs, and a vote or an exhibit for each case that opened: for each member
  // by its validator, by the owners of its parts, and against an owner that covers it. The step
  // before may not have finished all of its own.
  bounds.jobs = 2 * (9 + 4 * n);
  // A step stores a record of each message (six, more in a slow seal), each result, evidence
  // against each member, its state and its block. Later records wait for earlier ones. A member
  // that catches up stores the results of all blocks of its way while the first of them is written
  // [eight of 42 columns].
  bounds.stores = 2 * (16 + 3 * n) + 2 * protocol::kLongWay * (n + 2);
  // A step has a dozen messages from one member to another. A slow seal forwards messages of
  // others, and a member that is behind asks for what it lacks: each answer has at most six kinds
  // of message and two more that are forwarded, of each member. A member that lacks all three seals
  // of a step asks for all at once [three slow seals in a row filled a bound of one seal]. A member
  // that catches up asks for many blocks, for more of them while some are on their way, and each
  // request may arrive twice.
  constexpr std::size_t kSeals = 3;
  bounds.messages = 32 + kSeals * (6 + 2) * n + 4 * protocol::kMaxBlocksAnAnswer;
  // While nothing arrives, a member repeats requests at most once a Delta (docs/seal.md, 5) for
  // each of 2 n entries and n ECHOs, answers as many, and sends its own messages of the iterations.
  const auto deltas = static_cast<std::size_t>(hold.ns / delta.ns);
  bounds.messages += deltas * (16 + 6 * n);
  if (nat > 0) bounds.messages *= nat;
  // A part and its aggregate, those of disputed pairs, the state with its velocity for members that
  // come back, and results each time that they are requested. All other messages are small, and
  // their number bounds their bytes.
  bounds.message_bytes = (8 + deltas) * 2 * sizeof(float) * dimension + bounds.messages * 4096;
  bounds.answers = bounds.messages + 2 * protocol::Ration::kAnswersASecond;
  bounds.answer_bytes = bounds.message_bytes + 2 * protocol::Ration::BytesASecond(dimension);
  return bounds;
}

Queues::Queues(const Roster& roster, const QueueBounds& bounds,
               std::shared_ptr<wire::Opener> opener)
    : roster_(roster), bounds_(bounds), opener_(std::move(opener)), peers_(roster.ids.size()) {}

bool Queues::IsAnswer(std::uint32_t from, std::uint32_t to, const base::SharedBytes& frame) const {
  if (roster_.IsHonest(to) || !roster_.IsHonest(from)) return false;
  const auto opened = opener_->Open(frame);
  if (!opened.ok()) return false;  // an unprotected run
  const wire::Envelope& envelope = (*opened)->envelope;
  return wire::IsService(envelope.slot.type) || envelope.sender != roster_.ids[from];
}

bool Queues::IsCarried(const base::PeerId& link, const base::SharedBytes& frame) const {
  const auto opened = opener_->Open(frame);
  if (!opened.ok() || (*opened)->envelope.slot.type != wire::MessageType::kForward) return false;
  const auto* forward = (*opened)->As<wire::Forward>();
  return forward != nullptr && forward->from != link;
}

void Queues::OnStep(const StepRecord& record) {
  now_ = record.now;
  Peer& peer = peers_[record.peer];
  const base::PeerId& self = roster_.ids[record.peer];
  if (std::holds_alternative<protocol::Started>(record.input)) {
    peer = {};
    // All links count as down until LinkChanged reports them.
    peer.down.insert(roster_.ids.begin(), roster_.ids.end());
  } else if (const auto* timer = std::get_if<protocol::TimerFired>(&record.input)) {
    peer.timers.erase(timer->id);
  } else if (const auto* job = std::get_if<protocol::JobDone>(&record.input)) {
    peer.jobs.erase(job->id);
  } else if (const auto* stored = std::get_if<protocol::Stored>(&record.input)) {
    peer.stores.erase(stored->id);
  } else if (const auto* changed = std::get_if<protocol::LinkChanged>(&record.input)) {
    // Messages in transit are lost when a link goes down.
    peer.links.erase(changed->peer);
    if (changed->up) {
      peer.down.erase(changed->peer);
    } else {
      peer.down.insert(changed->peer);
    }
    if (const auto other = roster_.IndexOf(changed->peer)) peers_[*other].links.erase(self);
  } else if (const auto* message = std::get_if<protocol::MessageReceived>(&record.input)) {
    const auto from = roster_.IndexOf(message->from);
    if (!from || IsAnswer(*from, record.peer, message->frame)) return;
    if (IsCarried(message->from, message->frame)) return;
    Link& link = peers_[*from].links[self];
    if (link.messages > 0) --link.messages;  // a duplicate arrives as a second message
    link.bytes -= std::min(link.bytes, SizeOf(message->frame, message->blob));
    if (link.messages == 0) link.bytes = 0;
  }
}

template <typename Size>
base::Status Queues::Judge(std::uint32_t peer, const char* what, Size size, Size bound,
                           Size& peak) {
  peak = std::max(peak, size);
  if (size <= bound) return base::OkStatus();
  return base::FailedPrecondition(Named(roster_, peer) + " has " + std::to_string(size) + " " +
                                  what + ", more than the " + std::to_string(bound) +
                                  " that this run can need");
}

base::Status Queues::CountAnswer(std::uint32_t peer, Link& link, std::uint64_t bytes) {
  if (now_ - link.answers_since >= kAnswerWindow) {
    link.answers_since = now_;
    link.answers = 0;
    link.answer_bytes = 0;
  }
  link.answer_bytes += bytes;
  const base::Status status = Judge(peer, "answers to one peer in less than a second",
                                    ++link.answers, bounds_.answers, peaks_.answers);
  if (!status.ok()) return status;
  return Judge(peer, "bytes of answers to one peer in less than a second", link.answer_bytes,
               bounds_.answer_bytes, peaks_.answer_bytes);
}

base::Status Queues::OnAction(std::uint32_t peer, const protocol::Action& action) {
  Peer& own = peers_[peer];
  if (const auto* timer = std::get_if<protocol::SetTimer>(&action)) {
    own.timers.insert(timer->id);
    return Judge(peer, "timers", own.timers.size(), bounds_.timers, peaks_.timers);
  }
  if (const auto* cancelled = std::get_if<protocol::CancelTimer>(&action)) {
    own.timers.erase(cancelled->id);
  } else if (const auto* job = std::get_if<protocol::StartJob>(&action)) {
    own.jobs.insert(job->id);
    return Judge(peer, "jobs", own.jobs.size(), bounds_.jobs, peaks_.jobs);
  } else if (const auto* store = std::get_if<protocol::Store>(&action)) {
    own.stores.insert(store->id);
    return Judge(peer, "stores", own.stores.size(), bounds_.stores, peaks_.stores);
  } else if (const auto* send = std::get_if<protocol::Send>(&action)) {
    const auto to = roster_.IndexOf(send->to);
    if (!to || *to == peer || own.down.contains(send->to)) return base::OkStatus();
    if (IsCarried(roster_.ids[peer], send->frame)) return base::OkStatus();
    Link& link = own.links[send->to];
    if (IsAnswer(peer, *to, send->frame)) {
      return CountAnswer(peer, link, SizeOf(send->frame, send->blob));
    }
    link.bytes += SizeOf(send->frame, send->blob);
    const base::Status status = Judge(peer, "messages on the way to another", ++link.messages,
                                      bounds_.messages, peaks_.messages);
    if (!status.ok()) return status;
    return Judge(peer, "bytes on the way to another", link.bytes, bounds_.message_bytes,
                 peaks_.message_bytes);
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim
