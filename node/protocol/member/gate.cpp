#include "node/protocol/member/gate.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/mail/message_types.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// Iterations of the slow path that a member may be ahead of us.
constexpr std::uint32_t kIterationsAhead = 8;
// Steps of the window of a member that is away.
constexpr std::size_t kStepsRefused = 3;

// Why the bulk data cannot be what the message announces; nullopt if it is.
std::optional<std::string> BlobFault(const wire::SignedEnvelope& message, const SharedBlob& blob) {
  if (!message.IsReadable()) return "sent a malformed message: " + message.WhyUnreadable();
  const auto* part = message.As<wire::Part>();
  const Digest& announced = part != nullptr ? part->root : message.As<wire::Result>()->root;
  if (announced != blob->root) return "sent bulk data other than its message announces";
  return std::nullopt;
}

}  // namespace

// Nobody, if it was carried: of the member and its carrier nobody here knows which one spoilt it.
void Gate::SuspectLink(const PeerId& from, const char* check, const std::string& reason) const {
  if (!member_.ration.carries()) core_.voice.Suspect(from, check, reason);
}

std::optional<wire::SharedMessage> Gate::Open(const MessageReceived& input) const {
  if (!member_.ration.IsHeard(core_.turn.now(), input.from)) return std::nullopt;
  auto opened = opener_->Open(input.frame);
  if (!opened.ok()) {
    SuspectLink(input.from, "frame", base::MessageOf(opened.status()));
    return std::nullopt;
  }
  const wire::Envelope& envelope = (*opened)->envelope;
  if (envelope.slot.run_id != core_.manifest->run_id || envelope.slot.incarnation != 0) {
    SuspectLink(input.from, "slot", "sent a message whose slot no honest peer can use");
    return std::nullopt;
  }
  if (wire::IsService(envelope.slot.type) && envelope.sender != input.from) {
    SuspectLink(input.from, "relay", "passed on a request or answer of another peer");
    return std::nullopt;
  }
  return *std::move(opened);
}

bool Gate::HasItsBlob(const wire::Envelope& envelope, const MessageReceived& input) const {
  if (CarriesBlob(envelope.slot.type) == (input.blob != nullptr)) return true;
  SuspectLink(input.from, "blob",
              "sent a message without its bulk data, or with some it may not have");
  return false;
}

std::uint64_t Gate::ExpectedStep() const {
  return step_.in() ? step_.step().number() : HeightOf(core_.chain.head());
}

// --- whom it concerns ---------------------------------------------------------------------------

Fate Gate::Sort(const wire::SignedEnvelope& message, const PeerId& from) const {
  const wire::Envelope& envelope = message.envelope;
  const wire::Slot& slot = envelope.slot;
  // A case may be about a part of a member that is banned already.
  if (slot.type == MessageType::kPart && slot.step < ExpectedStep()) return Fate::kExhibit;
  // A removed member may not know yet.
  if (!IsMember(core_.chain.head().members, envelope.sender)) return Fate::kNothing;
  if (slot.phase != Phase::kGenesis) return Fate::kTakeIn;
  if (!stage_.is(Stage::kGenesis)) {
    // A member that lost its store, or comes late, believes that the run has not begun.
    const bool asks = envelope.sender == from && stage_.in_step();
    if (!asks || !member_.ration.Take(core_.turn.now(), from)) return Fate::kNothing;
    return Fate::kGenesisQuestion;
  }
  const bool own_word = envelope.sender == from && IsFirstHand(from);
  return own_word || genesis_.CountsIfRelayed(message) ? Fate::kTakeIn : Fate::kNothing;
}

bool Gate::IsFirstHand(const PeerId& from) const {
  return !member_.ration.carries() || Apart(core_.chain.head(), core_.self, from);
}

// --- whether it is taken in ---------------------------------------------------------------------

Fate Gate::Judge(const wire::SharedMessage& shared, const MessageReceived& input) {
  const wire::SignedEnvelope& message = *shared;
  const wire::Slot& slot = message.envelope.slot;
  const bool of_seal = IsSealMessage(slot.type) && slot.phase != Phase::kGenesis;
  if (of_seal && member_.past_seals.Find(SealKeyOf(slot)) != nullptr) return Fate::kPastSeal;
  // A VOTE or LOCK of an iteration of the present seal that is long over: a lock may rest on it.
  const bool ballot = slot.type == MessageType::kVote || slot.type == MessageType::kLock;
  if (ballot && step_.in() && step_.step().sealing().IsFor(slot) &&
      slot.iteration + 2 < step_.step().sealing().seal().iteration()) {
    return JudgeOdd(message, input.from);
  }
  if (!InWindow(slot)) return JudgeOutside(message, input.from);
  if (input.blob != nullptr && !BlobIsWanted(message, input)) return Fate::kNothing;
  const Inbox::Outcome outcome = core_.inbox.Probe(message);
  if (outcome == Inbox::Outcome::kDuplicate) {
    const bool again = step_.in() && step_.step().sealing().IsPassedOver(message);
    return again ? Fate::kPassedOver : Fate::kNothing;
  }
  if (outcome == Inbox::Outcome::kMore) {
    // It proves nothing new, but a lock may rest on it.
    const bool sealing = step_.in() && step_.step().sealing().open();
    if (!sealing || !IsSealMessage(slot.type)) return Fate::kNothing;
    return JudgeOdd(message, input.from);
  }
  // Of genesis the newest message counts, so that there is always one more to verify.
  const bool good = slot.phase == Phase::kGenesis ? check_.VerifiedOdd(message, input.from)
                                                  : check_.Verified(message, input.from);
  return good ? Fate::kTakeIn : Fate::kNothing;
}

// The inbox does not keep it: the seal keeps what a lock is claimed to rest on.
Fate Gate::JudgeOdd(const wire::SignedEnvelope& message, const PeerId& from) const {
  if (!step_.step().sealing().TakeOdd(member_.ration.SealAccountOf(from))) return Fate::kNothing;
  return check_.Verified(message, from) ? Fate::kOdd : Fate::kNothing;
}

Fate Gate::JudgeOutside(const wire::SignedEnvelope& message, const PeerId& from) const {
  const wire::Envelope& envelope = message.envelope;
  if (!step_.in() || envelope.slot.step < step_.step().number() + 2) return Fate::kNothing;
  if (ahead_.contains(envelope.sender)) return Fate::kNothing;
  return check_.Verified(message, from) ? Fate::kAhead : Fate::kNothing;
}

// Steps and phases in which a message of an honest member can be of use now.
bool Gate::InWindow(const wire::Slot& slot) const {
  // A peer ahead of us has all our messages of its last seal, so it is at most in the first phase
  // of the next step; and it cannot echo there before it has our COMMIT, or its deadline has
  // passed: then CLOSEs tell us, when we come, that it is too late to echo.
  const bool close = slot.type == MessageType::kClose;
  const bool opening = slot.phase == Phase::kA && (!IsSealMessage(slot.type) || close);
  if (stage_.is(Stage::kGenesis)) {
    return slot.step == 0 && (slot.phase == Phase::kGenesis || opening);
  }
  if (!stage_.in_step()) {
    // Away: what members of a step that this one may join have sent to it already.
    const std::uint64_t next = ExpectedStep();
    return opening && slot.step >= next && slot.step <= next + 2;
  }
  const Step& step = step_.step();
  if (slot.step == step.number() + 1) return opening;
  return slot.step == step.number() && InStepWindow(slot, step);
}

bool Gate::InStepWindow(const wire::Slot& slot, const Step& step) const {
  // As with steps, a peer is at most one draw ahead.
  const StepReading& reading = step.facts().reading;
  if (slot.draw >= reading.coin_count || slot.draw > reading.draw + 1) return false;
  if (slot.type < MessageType::kStatus || slot.type == MessageType::kClose) return true;
  // The slow path of the seal in progress; another's is over, or far.
  if (!step.sealing().IsFor(slot)) return false;
  const std::uint32_t now = step.sealing().seal().iteration();
  return slot.iteration <= now + kIterationsAhead && slot.iteration + 2 >= now;
}

// --- bulk data ----------------------------------------------------------------------------------

// A relay may have spoilt the data; what cannot be read at all is its signer's message. It is kept
// out of the inbox, so that it may come again and again.
void Gate::KeepUnreadable(const wire::SignedEnvelope& message, const PeerId& from) {
  const PeerId& sender = message.envelope.sender;
  if (message.IsReadable() || sender == core_.self) return;
  if (member_.charges.Against(sender) || !check_.VerifiedOdd(message, from)) return;
  member_.charges.Show(sender, evidence::MakeUnreadable(*message.frame));
}

bool Gate::BlobIsWanted(const wire::SignedEnvelope& message, const MessageReceived& input) {
  const wire::Envelope& envelope = message.envelope;
  if (const auto fault = BlobFault(message, input.blob)) {
    KeepUnreadable(message, input.from);
    SuspectLink(input.from, "blob", *fault);
    return false;
  }
  if (BulkWanted(envelope, input.from, input.blob->data.size())) return true;
  const bool early = !step_.in() || envelope.slot.step > step_.step().number();
  if (early && envelope.slot.type == MessageType::kPart) {
    // Steps that ended while this member was away never begin here.
    const std::uint64_t expected = ExpectedStep();
    std::erase_if(refused_early_, [&](const auto& entry) { return entry.first < expected; });
    refused_early_[envelope.slot.step].insert(input.from);
  }
  return false;
}

std::size_t Gate::DisputesOf(const PeerId& worker) const {
  const auto& disputes = core_.chain.head().disputes;
  return static_cast<std::size_t>(
      std::count_if(disputes.begin(), disputes.end(),
                    [&](const Dispute& dispute) { return dispute.worker == worker; }));
}

// Bulk data is as large as the model is, so no more of it is held than somebody needs: results of
// their owners, parts of this member's column, and parts that a dispute has shown to all.
bool Gate::BulkWanted(const wire::Envelope& envelope, const PeerId& from,
                      std::uint64_t bytes) const {
  const wire::Slot& slot = envelope.slot;
  const bool part = slot.type == MessageType::kPart;
  if (step_.in(slot.step)) {
    const StepFacts& facts = step_.step().facts();
    if (!part) return facts.roles().PartOwnedBy(envelope.sender) == slot.iteration;
    return facts.my_column == slot.iteration ||
           step_.step().pairs().IsPublic(envelope.sender, slot.iteration);
  }
  // Of a step whose roles are not known yet. What is refused here is asked for when the step begins
  // (asks.h). Others' parts take no room of their signer's [a cheat filled the room of an honest
  // worker, or its own, with parts of other columns, and the one that mattered found none].
  if (part && from != envelope.sender) return false;
  const std::uint64_t dimension = core_.chain.state().parameters->size();
  const Codecs& codecs = core_.manifest->codecs;
  const std::uint64_t largest = LargestPart(dimension, slot.iteration);
  if (bytes > EncodedBytes(part ? codecs.parts : codecs.results, largest)) return false;
  const std::size_t held = core_.inbox.CountIterations(Inbox::PlaceOf(slot), envelope.sender);
  return held < (part ? 2 + DisputesOf(envelope.sender) : 1);
}

// --- the end, and other steps -------------------------------------------------------------------

Fate Gate::JudgeAfterEnd(const wire::SharedMessage& shared, const PeerId& from) const {
  const wire::Envelope& envelope = shared->envelope;
  const Block& head = core_.chain.head();
  if (!IsMember(head.members, envelope.sender)) return Fate::kNothing;
  if (IsSealMessage(envelope.slot.type)) {
    const bool past = member_.past_seals.Find(SealKeyOf(envelope.slot)) != nullptr;
    return past ? Fate::kPastSeal : Fate::kNothing;
  }
  const Inbox::Place commit{HeightOf(head), Phase::kA, MessageType::kCommit, 0, 0};
  if (Inbox::PlaceOf(envelope.slot) != commit) return Fate::kNothing;
  const Inbox::Outcome outcome = core_.inbox.Probe(*shared);
  const bool known = outcome == Inbox::Outcome::kDuplicate || outcome == Inbox::Outcome::kMore;
  return !known && check_.Verified(*shared, from) ? Fate::kTakeIn : Fate::kNothing;
}

bool Gate::NoteAhead(const PeerId& sender) {
  const Block& head = core_.chain.head();
  if (IsMember(head.members, sender)) ahead_.insert(sender);
  return ahead_.size() > FaultBound(head.thresholds);
}

bool Gate::NoteNext(const PeerId& from, const Digest& block) {
  const Block& head = core_.chain.head();
  if (member_.ration.carries() || !IsMember(head.members, from)) return false;
  next_[from] = block;
  const auto shows = [&block](const auto& entry) { return entry.second == block; };
  const auto showing = static_cast<std::size_t>(std::ranges::count_if(next_, shows));
  return showing > FaultBound(head.thresholds);
}

void Gate::ForgetAhead() {
  ahead_.clear();
  next_.clear();
}

std::set<PeerId> Gate::BeginStep(std::uint64_t step) {
  ForgetAhead();
  std::set<PeerId> refused = std::move(refused_early_[step]);
  std::erase_if(refused_early_, [step](const auto& entry) { return entry.first <= step; });
  return refused;
}

void Gate::CheckInvariants() const {
  OSTRAKA_CHECK(refused_early_.size() <= kStepsRefused);
  OSTRAKA_CHECK(ahead_.size() <= KeysIn(*core_.manifest));
  OSTRAKA_CHECK(next_.size() <= KeysIn(*core_.manifest));
}

void Gate::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, ahead_, next_, refused_early_);
}

}  // namespace ostraka::protocol
