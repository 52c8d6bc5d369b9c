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
  const Block& head = uses_.chain->head();
  const Standing* standing = StandingOf(head.standings, from);
  if (from == uses_.self) return false;
  if (!IsKey(head, from) && !uses_.followers->IsGuest(from)) return false;
  if (standing != nullptr && standing->banned) return false;
  return uses_.ration->Take(uses_.turn->now(), from);
}

// The step of that number, if it is in progress.
const Step* Answers::InProgress(const Step* step, std::uint64_t number) const {
  return uses_.stage->in_step() && step->number() == number ? step : nullptr;
}

void Answers::Answer(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull,
                     const Step* step) {
  switch (pull.kind) {
    case PullKind::kMessages:
      return AnswerMessages(from, slot, pull, step);
    case PullKind::kDigests:
      return AnswerDigests(from, slot, pull);
    case PullKind::kVector:
      return AnswerVector(from, slot, pull, step);
    case PullKind::kHead:
      uses_.followers->OnAsked(from, uses_.turn->now());
      return AnswerHead(from);
    case PullKind::kBlock:
      return uses_.server->AnswerBlocks(from, slot, pull.index);
    case PullKind::kResult:
      uses_.server->AnswerResult(from, slot.step, pull.index);
      return;
    case PullKind::kPart:
      return AnswerPart(from, slot, pull, step);
    case PullKind::kState:
      return uses_.server->AnswerState(from, slot.step, pull.index);
    case PullKind::kProofs:
    case PullKind::kFollow:
      return;
  }
}

void Answers::AnswerHead(const PeerId& to) {
  if (uses_.stage->is(Stage::kGenesis)) return uses_.server->SayWaiting(to);
  uses_.server->AnswerHead(to);
}

// --- messages -----------------------------------------------------------------------------------

void Answers::AnswerMessages(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull,
                             const Step* step) {
  if (CarriesBlob(pull.type)) return;
  // The bitmap is over the members that seal the step.
  const PastStep* past = uses_.chain->Past(slot.step);
  const Step* current = InProgress(step, slot.step);
  if (current == nullptr && past == nullptr) return;
  const std::vector<PeerId>& members =
      current != nullptr ? uses_.chain->head().members : past->members;
  const auto wanted = wire::SendersOf(pull.members, members);
  if (!wanted || wanted->empty()) return;
  if (IsSealMessage(pull.type) && current != nullptr && current->sealing().IsFor(slot)) {
    return AnswerBallots(from, current->sealing().seal().Frames(pull.type), *wanted);
  }
  if (IsSealMessage(pull.type) && !AnswerCertificate(from, slot, pull.type, *wanted)) return;
  const Inbox::Place place{slot.step, slot.phase, pull.type, slot.draw,
                           static_cast<std::uint32_t>(pull.index)};
  for (const PeerId& member : *wanted) {
    if (!SendHeld(from, uses_.inbox->Find(place, member))) return;
  }
}

// False: the ration is used up. To look for what is not held costs what is held.
bool Answers::SendHeld(const PeerId& to, const Inbox::Item* item) {
  if (item == nullptr) return uses_.ration->Take(uses_.turn->now(), to);
  if (!uses_.server->SendFrame(to, item->message->frame)) return false;
  // A member that equivocated is seen to have: a merge rests on both frames.
  return std::all_of(item->rivals.begin(), item->rivals.end(), [&](const Inbox::Version& rival) {
    return uses_.server->SendFrame(to, rival.message->frame);
  });
}

// Of any iteration: a lock may rest on votes that went to its holders alone.
void Answers::AnswerBallots(const PeerId& to, const std::vector<SealFrame>& held,
                            const std::vector<PeerId>& authors) {
  if (!uses_.server->TakeLooks(to, held.size())) return;
  for (const auto& [sender, frame] : held) {
    if (IsMember(authors, sender) && !uses_.server->SendFrame(to, frame)) return;
  }
}

// What a decision rests on may be the third message of its sender, which no inbox keeps [a cheat
// showed its third one to one honest member, which decided more than 2 Delta before all others and
// was dropped for an ECHO of the next seal that came early].
bool Answers::AnswerCertificate(const PeerId& to, const wire::Slot& slot, MessageType type,
                                const std::vector<PeerId>& authors) {
  const PastSeal* decided = uses_.past_seals->Find(SealKeyOf(slot));
  if (decided == nullptr) return true;
  for (const PeerId& author : authors) {
    const PastSeal::Proof* proof = decided->Find(type, author);
    if (base::Planted(base::Bug::kLooksAreFree)) LookThrough(*decided);
    if (proof != nullptr && !uses_.server->SendFrame(to, proof->frame)) return false;
  }
  return true;
}

// Only for that bug: what it decodes is counted by the simulator, and by no ration.
void Answers::LookThrough(const PastSeal& seal) {
  for (const PastSeal::Proof& proof : seal.certificate) (void)uses_.opener->Open(proof.frame);
}

void Answers::AnswerDigests(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  for (const Digest& digest : pull.digests) {
    if (!uses_.ration->Take(uses_.turn->now(), from)) return;
    const auto* message = uses_.inbox->FindDigest(slot.step, slot.phase, digest);
    if (message != nullptr) uses_.server->SendFrame(from, message->frame);
  }
}

void Answers::AnswerVector(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull,
                           const Step* step) {
  if (pull.digests.empty()) return;
  std::optional<wire::Vector> vector;
  if (const PastSeal* past = uses_.past_seals->Find(SealKeyOf(slot))) {
    if (past->value == pull.digests[0]) vector = WireOf(past->vector);
  } else if (step != nullptr && step->sealing().IsFor(slot)) {
    vector = step->sealing().seal().VectorFor(pull.digests[0]);
  }
  if (!vector) return;
  wire::Slot answer = slot;
  answer.type = MessageType::kVector;
  Bytes encoded = wire::Encode(*vector);
  if (!uses_.ration->Take(uses_.turn->now(), from, encoded.size())) return;
  uses_.voice->SendService(from, answer, std::move(encoded));
}

// --- parts --------------------------------------------------------------------------------------

void Answers::AnswerPart(const PeerId& to, const wire::Slot& slot, const wire::Pull& pull,
                         const Step* step) {
  const auto column = static_cast<std::uint32_t>(pull.index);
  if (const Step* current = InProgress(step, slot.step)) {
    const auto workers = wire::SendersOf(pull.members, uses_.chain->head().members);
    if (!workers || workers->size() != 1) return;
    if (pull.index >= current->facts().roles().owners.size()) return;
    if (workers->front() == uses_.self) return AnswerOwnPart(to, slot.step, column);
    return AnswerPassedOn(to, workers->front(), column, *current);
  }
  const PastStep* past = uses_.chain->Past(slot.step);
  if (past == nullptr) return;
  const auto authors = wire::SendersOf(pull.members, past->members);
  if (!authors || authors->size() != 1) return;
  const auto part = past->parts.find({column, authors->front()});
  if (part == past->parts.end()) return;
  uses_.server->SendBulk(to, part->second.frame, part->second.blob);
}

// To the owner with which the worker is in dispute.
void Answers::AnswerPassedOn(const PeerId& to, const PeerId& worker, std::uint32_t column,
                             const Step& step) {
  if (!step.pairs().MustResend(to, worker, column)) return;
  const Inbox::Place place = step.facts().PlaceOf(Phase::kA, MessageType::kPart, 0, column);
  const Inbox::Version* part = Usable(*uses_.inbox, step.facts(), place, worker);
  if (part != nullptr) uses_.server->SendBulk(to, part->message->frame, part->blob);
}

// To a peer that it is addressed to.
void Answers::AnswerOwnPart(const PeerId& to, std::uint64_t step, std::uint32_t column) {
  for (const Journal::Sent& sent : uses_.journal->sent()) {
    if (!sent.bulk || sent.blob == nullptr || sent.slot.step != step) continue;
    if (sent.slot.type != MessageType::kPart || sent.slot.iteration != column) continue;
    const bool addressed = std::find(sent.to.begin(), sent.to.end(), to) != sent.to.end();
    if (addressed) uses_.server->SendBulk(to, sent.frame, sent.blob);
    return;
  }
}

// --- past seals ---------------------------------------------------------------------------------

void Answers::HelpStuck(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  const PastSeal& past = *uses_.past_seals->Find(SealKeyOf(envelope.slot));
  if (envelope.sender != from || from == uses_.self) return;
  const MessageType type = envelope.slot.type;
  const bool newly_stuck =
      type == MessageType::kEcho || type == MessageType::kClose || type == MessageType::kStatus;
  if (!newly_stuck || !uses_.ration->Take(uses_.turn->now(), from)) return;
  // Its ECHO, in time for the decision, came here before it: that is no cry for help.
  if (type == MessageType::kEcho) {
    const PastSeal::Proof* mine = past.Find(type, from);
    if (mine != nullptr && *mine->frame == *message.frame) return;
  }
  for (const PastSeal::Proof& proof : past.certificate) {
    if (!uses_.server->SendFrame(from, proof.frame)) return;
  }
}

}  // namespace ostraka::protocol
