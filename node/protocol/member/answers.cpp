#include "node/protocol/member/answers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/mail/message_types.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;
using wire::PullKind;

bool Answers::Admits(const PeerId& from) {
  const Block& head = core_.chain.head();
  const Standing* standing = StandingOf(head.standings, from);
  if (from == core_.self) return false;
  if (!IsKey(head, from) && !member_.followers.IsGuest(from)) return false;
  if (standing != nullptr && standing->banned) return false;
  return member_.ration.Take(core_.turn.now(), from);
}

void Answers::Answer(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  switch (pull.kind) {
    case PullKind::kMessages:
      return AnswerMessages(from, slot, pull);
    case PullKind::kDigests:
      return AnswerDigests(from, slot, pull);
    case PullKind::kVector:
      return AnswerVector(from, slot, pull);
    case PullKind::kHead:
      member_.followers.OnAsked(from, core_.turn.now());
      return AnswerHead(from);
    case PullKind::kBlock:
      return member_.server.AnswerBlocks(from, slot, pull.index);
    case PullKind::kResult:
      member_.server.AnswerResult(from, slot.step, pull.index);
      return;
    case PullKind::kPart:
      return AnswerPart(from, slot, pull);
    case PullKind::kState:
      return member_.server.AnswerState(from, slot.step, pull.index);
    case PullKind::kProofs:
    case PullKind::kFollow:
      return;
  }
}

void Answers::AnswerHead(const PeerId& to) {
  if (stage_.is(Stage::kGenesis)) return member_.server.SayWaiting(to);
  member_.server.AnswerHead(to);
}

// --- messages -----------------------------------------------------------------------------------

void Answers::AnswerMessages(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  if (CarriesBlob(pull.type)) return;
  // The bitmap is over the members that seal the step.
  const PastStep* past = core_.chain.Past(slot.step);
  const bool current = step_.in(slot.step);
  if (!current && past == nullptr) return;
  const std::vector<PeerId>& members = current ? core_.chain.head().members : past->members;
  const auto wanted = wire::SendersOf(pull.members, members);
  if (!wanted || wanted->empty()) return;
  if (IsSealMessage(pull.type) && current && step_.step().sealing().IsFor(slot)) {
    return AnswerBallots(from, step_.step().sealing().seal().Frames(pull.type), *wanted);
  }
  if (IsSealMessage(pull.type) && !AnswerCertificate(from, slot, pull.type, *wanted)) return;
  const Inbox::Place place{slot.step, slot.phase, pull.type, slot.draw,
                           static_cast<std::uint32_t>(pull.index)};
  for (const PeerId& member : *wanted) {
    if (!SendHeld(from, core_.inbox.Find(place, member))) return;
  }
}

// False: the ration is used up. To look for what is not held costs what is held.
bool Answers::SendHeld(const PeerId& to, const Inbox::Item* item) {
  if (item == nullptr) return member_.ration.Take(core_.turn.now(), to);
  if (!member_.server.SendFrame(to, item->message->frame)) return false;
  // A member that equivocated is seen to have: a merge rests on both frames.
  return std::all_of(item->rivals.begin(), item->rivals.end(), [&](const Inbox::Version& rival) {
    return member_.server.SendFrame(to, rival.message->frame);
  });
}

// Of any iteration: a lock may rest on votes that went to its holders alone.
void Answers::AnswerBallots(const PeerId& to, const std::vector<SealFrame>& held,
                            const std::vector<PeerId>& authors) {
  if (!member_.server.TakeLooks(to, held.size())) return;
  for (const auto& [sender, frame] : held) {
    if (IsMember(authors, sender) && !member_.server.SendFrame(to, frame)) return;
  }
}

// What a decision rests on may be the third message of its sender, which no inbox keeps [a cheat
// showed its third one to one honest member, which decided more than 2 Delta before all others and
// was dropped for an ECHO of the next seal that came early].
bool Answers::AnswerCertificate(const PeerId& to, const wire::Slot& slot, MessageType type,
                                const std::vector<PeerId>& authors) {
  const PastSeal* decided = member_.past_seals.Find(SealKeyOf(slot));
  if (decided == nullptr) return true;
  for (const PeerId& author : authors) {
    const PastSeal::Proof* proof = decided->Find(type, author);
    if (base::Planted(base::Bug::kLooksAreFree)) LookThrough(*decided);
    if (proof != nullptr && !member_.server.SendFrame(to, proof->frame)) return false;
  }
  return true;
}

// Only for that bug: what it decodes is counted by the simulator, and by no ration.
void Answers::LookThrough(const PastSeal& seal) {
  for (const PastSeal::Proof& proof : seal.certificate) (void)opener_->Open(proof.frame);
}

void Answers::AnswerDigests(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  for (const Digest& digest : pull.digests) {
    if (!member_.ration.Take(core_.turn.now(), from)) return;
    const auto* message = core_.inbox.FindDigest(slot.step, slot.phase, digest);
    if (message != nullptr) member_.server.SendFrame(from, message->frame);
  }
}

void Answers::AnswerVector(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  if (pull.digests.empty()) return;
  std::optional<wire::Vector> vector;
  if (const PastSeal* past = member_.past_seals.Find(SealKeyOf(slot))) {
    if (past->value == pull.digests[0]) vector = WireOf(past->vector);
  } else if (step_.in() && step_.step().sealing().IsFor(slot)) {
    vector = step_.step().sealing().seal().VectorFor(pull.digests[0]);
  }
  if (!vector) return;
  wire::Slot answer = slot;
  answer.type = MessageType::kVector;
  Bytes encoded = wire::Encode(*vector);
  if (!member_.ration.Take(core_.turn.now(), from, encoded.size())) return;
  core_.voice.SendService(from, answer, std::move(encoded));
}

// --- parts --------------------------------------------------------------------------------------

void Answers::AnswerPart(const PeerId& to, const wire::Slot& slot, const wire::Pull& pull) {
  const auto column = static_cast<std::uint32_t>(pull.index);
  if (step_.in(slot.step)) {
    const auto workers = wire::SendersOf(pull.members, core_.chain.head().members);
    if (!workers || workers->size() != 1) return;
    if (pull.index >= step_.step().facts().roles().owners.size()) return;
    if (workers->front() == core_.self) return AnswerOwnPart(to, slot.step, column);
    return AnswerPassedOn(to, workers->front(), column);
  }
  const PastStep* past = core_.chain.Past(slot.step);
  if (past == nullptr) return;
  const auto authors = wire::SendersOf(pull.members, past->members);
  if (!authors || authors->size() != 1) return;
  const auto part = past->parts.find({column, authors->front()});
  if (part == past->parts.end()) return;
  member_.server.SendBulk(to, part->second.frame, part->second.blob);
}

// To the owner with which the worker is in dispute.
void Answers::AnswerPassedOn(const PeerId& to, const PeerId& worker, std::uint32_t column) {
  const Step& step = step_.step();
  if (!step.pairs().MustResend(to, worker, column)) return;
  const Inbox::Place place = step.facts().PlaceOf(Phase::kA, MessageType::kPart, 0, column);
  const Inbox::Version* part = Usable(core_.inbox, step.facts(), place, worker);
  if (part != nullptr) member_.server.SendBulk(to, part->message->frame, part->blob);
}

// To a peer that it is addressed to.
void Answers::AnswerOwnPart(const PeerId& to, std::uint64_t step, std::uint32_t column) {
  for (const Journal::Sent& sent : core_.journal.sent()) {
    if (!sent.bulk || sent.blob == nullptr || sent.slot.step != step) continue;
    if (sent.slot.type != MessageType::kPart || sent.slot.iteration != column) continue;
    const bool addressed = std::find(sent.to.begin(), sent.to.end(), to) != sent.to.end();
    if (addressed) member_.server.SendBulk(to, sent.frame, sent.blob);
    return;
  }
}

// --- past seals ---------------------------------------------------------------------------------

void Answers::HelpStuck(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  const PastSeal& past = *member_.past_seals.Find(SealKeyOf(envelope.slot));
  if (envelope.sender != from || from == core_.self) return;
  const MessageType type = envelope.slot.type;
  const bool newly_stuck =
      type == MessageType::kEcho || type == MessageType::kClose || type == MessageType::kStatus;
  if (!newly_stuck || !member_.ration.Take(core_.turn.now(), from)) return;
  // Its ECHO, in time for the decision, came here before it: that is no cry for help.
  if (type == MessageType::kEcho) {
    const PastSeal::Proof* mine = past.Find(type, from);
    if (mine != nullptr && *mine->frame == *message.frame) return;
  }
  for (const PastSeal::Proof& proof : past.certificate) {
    if (!member_.server.SendFrame(from, proof.frame)) return;
  }
}

}  // namespace ostraka::protocol
