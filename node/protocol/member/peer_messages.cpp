// What is let in: every message of another peer passes here, cheap checks first, before anything
// is kept or believed.
//
// What an attacker can do here: fill its own places of the inbox, once each, in a window of two
// steps; have signatures verified for nothing, as far as its ration goes (ration.h); ask
// (peer_pull.cpp); be suspected. Relayed frames count as their author's, for they are
// signed; relayed bulk data counts if it is what the frame announces.
#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

bool CarriesBlob(MessageType type) {
  return type == MessageType::kPart || type == MessageType::kResult;
}

// Iterations of the slow path that a member may be ahead of us.
constexpr std::uint32_t kIterationsAhead = 8;
// Third and further versions of words in one seal, and old ones, that one link may bring: so many,
// and so many of each member for one who passes on what locks rest on. Not counted for their
// signers: who repeats another's words must not use up what that one may say.
constexpr std::size_t kOddBallots = 256;
constexpr std::size_t kOddBallotsOfEach = 8;

}  // namespace

void PeerMachine::On(const MessageReceived& input) {
  auto opened = opener_->Open(input.frame);
  if (!opened.ok()) return Suspect(input.from, "frame", base::MessageOf(opened.status()));
  const wire::Envelope& envelope = (*opened)->envelope;
  if (envelope.slot.run_id != manifest_->run_id || envelope.slot.incarnation != 0) {
    return Suspect(input.from, "slot", "sent a message whose slot no honest peer can use");
  }
  if (wire::IsService(envelope.slot.type)) {
    if (envelope.sender != input.from) {
      return Suspect(input.from, "relay", "passed on a request or answer of another peer");
    }
    return OnService(input.from, envelope, input.blob);
  }
  if (stage_ == Stage::kFrozen) return HearOfFork(**opened, input.from);
  if (stage_ == Stage::kLinger) return OnSignedAfterEnd(*opened, input.from);
  if (CarriesBlob(envelope.slot.type) != (input.blob != nullptr)) {
    return Suspect(input.from, "blob",
                   "sent a message without its bulk data, or with some it may not have");
  }
  if (envelope.slot.type == MessageType::kRejoin) return OnRejoin(**opened, input.from);
  OnSigned(*opened, input);
}

void PeerMachine::OnSigned(const wire::SharedMessage& shared, const MessageReceived& input) {
  const wire::SignedEnvelope& message = *shared;
  const wire::Envelope& envelope = message.envelope;
  if (!WatchForFork(message, input.from)) return;
  // What a case is about, perhaps by one who is banned already.
  if (envelope.slot.type == MessageType::kPart && envelope.slot.step < ExpectedStep()) {
    return OnExhibit(message, input.from, input.blob);
  }
  // A removed member may not know yet.
  if (!IsMember(chain_.head().members, envelope.sender)) return;
  if (envelope.slot.phase == Phase::kGenesis && stage_ != Stage::kGenesis) {
    // Somebody who lost its store, or comes late, believes that the run has not begun.
    const bool asks = envelope.sender == input.from && InStep();
    if (!asks || !ration_.Take(turn_.now(), input.from)) return;
    if (CurrentStep() == 0) ShowGenesisEchoes(input.from);
    return AnswerHead(input.from);
  }
  const bool relayed = envelope.slot.phase == Phase::kGenesis && envelope.sender != input.from;
  if (relayed && !genesis_.CountsIfRelayed(envelope)) return;
  if (stage_ == Stage::kFollow) NoteAttestation(message, input.from);
  if (IsSealMessage(envelope.slot.type) && envelope.slot.phase != Phase::kGenesis) {
    const SealKey key = SealKeyOf(envelope.slot);
    if (past_seals_.contains(key)) return OnPastSealMessage(key, message, input.from);
  }
  if (IsOldBallot(envelope.slot)) return TakeToSeal(message, input.from);
  if (!InWindow(envelope.slot)) {
    const bool ahead = InStep() && envelope.slot.step >= CurrentStep() + 2;
    if (ahead && !ahead_.contains(envelope.sender) && Verified(message, input.from)) {
      LeaveIfBehind(envelope.sender);
    }
    return;
  }
  if (input.blob != nullptr) {
    if (const auto fault = BlobFault(envelope, input.blob)) {
      // A relay may have spoilt the data; what cannot be read at all is its signer's word.
      if (!evidence::IsReadable(envelope) && envelope.sender != self_) {
        charges_.Show(envelope.sender, evidence::MakeUnreadable(*input.frame));
      }
      return Suspect(input.from, "blob", *fault);
    }
    if (!BulkWanted(envelope, input.from, input.blob->data.size())) {
      const bool early = !InStep() || envelope.slot.step > CurrentStep();
      if (early && envelope.slot.type == MessageType::kPart) {
        refused_early_[envelope.slot.step].insert(input.from);
      }
      return;
    }
  }
  const Inbox::Outcome outcome = inbox_.Probe(message);
  if (outcome == Inbox::Outcome::kDuplicate) return;
  if (outcome == Inbox::Outcome::kMore) {
    // Proves nothing new, but a lock may rest on it.
    if (seal_ == nullptr || !IsSealMessage(envelope.slot.type)) return;
    return TakeToSeal(message, input.from);
  }
  if (!Verified(message, input.from)) return;
  Accept(shared, input.blob);
}

// A VOTE or LOCK of an iteration of the present seal that is long over: a lock may rest on it.
bool PeerMachine::IsOldBallot(const wire::Slot& slot) const {
  const bool ballot = slot.type == MessageType::kVote || slot.type == MessageType::kLock;
  return ballot && InStep() && seal_ != nullptr && SealKeyOf(slot) == SealKeyOf(seal_slot_) &&
         slot.iteration + 2 < seal_->iteration();
}

// Not kept here: the seal keeps what somebody claims to rest on.
void PeerMachine::TakeToSeal(const wire::SignedEnvelope& message, const PeerId& from) {
  const std::size_t limit = kOddBallots + kOddBallotsOfEach * chain_.head().members.size();
  if (++odd_ballots_[from] > limit) return;
  if (Verified(message, from)) FeedSeal(message);
}

bool PeerMachine::Verified(const wire::SignedEnvelope& message, const PeerId& from) {
  if (base::Planted(base::Bug::kSignatureSkipped)) return true;
  if (!ration_.IsHeard(turn_.now(), from)) return false;
  if (verifier_->Verify(message.envelope.sender, message.digest, message.signature)) return true;
  ration_.CountForgery(turn_.now(), from);
  Suspect(from, "signature", "sent a message whose signature is not its sender's");
  return false;
}

// Steps and phases in which a message of an honest member can be of use now.
bool PeerMachine::InWindow(const wire::Slot& slot) const {
  // A peer ahead of us has all our messages of its last seal, so it is at most in the first phase
  // of the next step; and it cannot echo there before it has our COMMIT, or its deadline has
  // passed: then CLOSEs tell us, when we come, that it is too late to echo.
  const bool close = slot.type == MessageType::kClose;
  const bool opening = slot.phase == Phase::kA && (!IsSealMessage(slot.type) || close);
  if (stage_ == Stage::kGenesis) {
    return slot.step == 0 && (slot.phase == Phase::kGenesis || opening);
  }
  if (!InStep()) {
    // Away: what members of a step that this one may join have sent to it already.
    return opening && slot.step >= ExpectedStep() && slot.step <= ExpectedStep() + 2;
  }
  if (slot.step == CurrentStep() + 1) return opening;
  if (slot.step != CurrentStep()) return false;
  // Likewise it is at most one draw ahead.
  if (slot.draw >= round_->reading.coin_count || slot.draw > round_->reading.draw + 1) return false;
  if (slot.type < MessageType::kStatus || close) return true;
  // The slow path of the seal in progress; another's is over, or far.
  return seal_ != nullptr && slot.phase == seal_slot_.phase && slot.draw == seal_slot_.draw &&
         slot.iteration <= seal_->iteration() + kIterationsAhead &&
         slot.iteration + 2 >= seal_->iteration();
}

// Bulk data is as large as the model is, so no more of it is held than somebody needs: results of
// their owners, parts of my column, and parts that a dispute has shown to all.
bool PeerMachine::BulkWanted(const wire::Envelope& envelope, const PeerId& from,
                             std::uint64_t bytes) const {
  const wire::Slot& slot = envelope.slot;
  const bool part = slot.type == MessageType::kPart;
  if (InStep() && slot.step == CurrentStep()) {
    if (!part) return round_->reading.sealed.roles.PartOwnedBy(envelope.sender) == slot.iteration;
    if (round_->my_part == slot.iteration) return true;
    return std::any_of(round_->pairs.begin(), round_->pairs.end(), [&](const LivePair& pair) {
      return pair.worker == envelope.sender && pair.column == slot.iteration;
    });
  }
  // Of a step whose roles are not known yet. What is refused here is asked for when the step begins
  // (AskForRefusedParts). Others' parts take no room of their signer's [a cheat filled the room of
  // an honest worker, or its own, with parts of other columns, and the one that mattered found
  // none].
  if (part && from != envelope.sender) return false;
  const std::uint64_t dimension = chain_.state().parameters->size();
  if (bytes > LargestPart(dimension, slot.iteration) * sizeof(float)) return false;
  const std::size_t held = inbox_.CountIterations(Inbox::PlaceOf(slot), envelope.sender);
  return held < (part ? 2 + DisputesOfWorker(envelope.sender) : 1);
}

std::optional<std::string> PeerMachine::BlobFault(const wire::Envelope& envelope,
                                                  const SharedBlob& blob) {
  Digest announced;
  if (envelope.slot.type == MessageType::kPart) {
    const auto part = wire::DecodePart(envelope.body);
    if (!part.ok()) return "sent a malformed PART: " + base::MessageOf(part.status());
    announced = part->root;
  } else {
    const auto result = wire::DecodeResult(envelope.body);
    if (!result.ok()) return "sent a malformed RESULT: " + base::MessageOf(result.status());
    announced = result->root;
  }
  if (announced != blob->root) return "sent bulk data other than its message announces";
  return std::nullopt;
}

void PeerMachine::Accept(const wire::SharedMessage& shared, SharedBlob blob) {
  const wire::SignedEnvelope& message = *shared;
  const wire::Slot& slot = message.envelope.slot;
  const Inbox::Place place = Inbox::PlaceOf(slot);
  const PeerId& sender = message.envelope.sender;
  if (place.phase == Phase::kGenesis) {
    if (genesis_.Wants(message.envelope)) inbox_.Replace(shared);
    return;
  }
  const Inbox::Outcome outcome = inbox_.Add(shared, std::move(blob));
  if (outcome == Inbox::Outcome::kRival && inbox_.Find(place, sender)->rivals.size() == 1) {
    KeepEquivocation(*inbox_.Find(place, sender));
    if (stage_ == Stage::kHalted) return;
  }
  if (round_ && slot.phase == Phase::kA) round_->to_judge.insert(sender);
  if (IsSealMessage(slot.type) && sender != self_) {
    if (!evidence::IsReadable(message.envelope)) {
      charges_.Show(sender, evidence::MakeUnreadable(*message.frame));
    }
    if (charges_.FindBrokenLock(inbox_, message)) {
      Suspect(sender, "lock", "voted against an earlier lock of its own");
    }
  }
  if (seal_ == nullptr || slot.step != seal_slot_.step || slot.phase != seal_slot_.phase) return;
  if (IsSealMessage(slot.type)) {
    if (slot.draw == seal_slot_.draw) FeedSeal(message);
  } else if (seal_->echoed()) {
    SealOutput output;
    seal_->OnHeld(turn_.now(), output);
    Perform(std::move(output));
  }
}

void PeerMachine::KeepEquivocation(const Inbox::Item& item) {
  const PeerId& sender = item.message->envelope.sender;
  if (sender == self_) {
    // Whatever we sign from here on may be the second message of its slot too, and this file would
    // convict us: it is left to others to find.
    return Halt(
        Halted::Why::kFailed,
        "another process signs with this key: end it, or this node, before both are banned; "
        "is the key in use on another machine, or was the data folder copied?");
  }
  auto made = evidence::MakeEquivocation(*item.message->frame, *item.rivals.front()->frame);
  OSTRAKA_CHECK(made.ok());  // the inbox holds two verified frames of one slot
  charges_.Show(sender, std::move(made));
  Suspect(sender, "equivocation",
          std::string("signed two different messages of one ") +
              wire::MessageTypeName(item.message->envelope.slot.type) + " slot");
}

// Phase A of a step names the block before as its entry: t_s + 1 of these prove the block.
void PeerMachine::NoteAttestation(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  if (envelope.slot.phase != Phase::kA || envelope.slot.type != MessageType::kCommit) return;
  if (!catch_up_ || envelope.slot.step < HeightOf(chain_.head())) return;
  const bool known = catch_up_->HasAttest(envelope.sender, envelope.slot.step, envelope.entry);
  if (!known && (!ration_.TakeOddMessage(turn_.now(), from) || !Verified(message, from))) return;
  catch_up_->OnAttest(envelope.sender, envelope.slot.step, envelope.entry);
}

const Inbox::Item* PeerMachine::Usable(const Inbox::Place& place, const PeerId& sender) const {
  const Inbox::Item* item = inbox_.Find(place, sender);
  if (item == nullptr || item->message->envelope.entry != EntryOf(place.phase)) return nullptr;
  return item;
}

}  // namespace ostraka::protocol
