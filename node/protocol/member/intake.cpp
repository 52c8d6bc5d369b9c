#include "node/protocol/member/intake.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/mail/message_types.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

constexpr const char* kTooSlow = "the others are steps ahead: this node was too slow, or cut off";

}  // namespace

Intake::Intake(Components& components, StepNow& step, Forks& forks, Follower& follower,
               Beginning& beginning, Ending& ending, const std::shared_ptr<wire::Opener>& opener)
    : components_(components),
      step_(step),
      forks_(forks),
      follower_(follower),
      beginning_(beginning),
      ending_(ending),
      door_(components),
      gate_(components, components, components.check, components.genesis, components.stage, step,
            opener),
      answers_(components, components, components.stage, step, opener) {}

// --- signed messages ----------------------------------------------------------------------------

Outcome Intake::On(const MessageReceived& input) {
  // A carried message within another one is in the ration of its carrier.
  const Block& head = components_.chain.head();
  const bool hosted = !components_.ration.carries() && !IsMember(head.members, input.from) &&
                      door_.MayBeHeard(input.from);
  if (!hosted || base::Planted(base::Bug::kGuestsAsMembers)) return Take(input);
  // Who follows itself takes blocks without a step that says so to the followers.
  if (components_.stage.is(Stage::kFollow)) {
    const auto refuses = [this](const Voucher& voucher) { return door_.IsRefusedForGood(voucher); };
    components_.followers.EndRefused(head, refuses);
    if (!door_.MayBeHeard(input.from)) return Outcome::Wait();
  }
  components_.ration.Host(input.from,
                          components_.followers.ShareOf(input.from, head.standings.size()));
  const Outcome outcome = Take(input);
  components_.ration.EndHost();
  return outcome;
}

Outcome Intake::Take(const MessageReceived& input) {
  const auto shared = gate_.Open(input);
  if (!shared) return Outcome::Wait();
  const wire::Envelope& envelope = (*shared)->envelope;
  if (!door_.MayBeHeard(input.from) && envelope.slot.type != MessageType::kRejoin) {
    return Outcome::Wait();
  }
  if (wire::IsService(envelope.slot.type)) {
    return OnService(input.from, **shared, input.blob);
  }
  if (components_.stage.is(Stage::kFrozen)) {
    forks_.Hear(**shared, input.from);
    return Outcome::Wait();
  }
  if (!gate_.HasItsBlob(envelope, input)) return Outcome::Wait();
  if (components_.stage.is(Stage::kLinger)) {
    return Perform(gate_.JudgeAfterEnd(*shared, input.from), *shared, input);
  }
  if (envelope.slot.type != MessageType::kRejoin) return OnSigned(*shared, input);
  door_.OnRejoin(**shared, input.from);
  return Outcome::Wait();
}

Outcome Intake::OnSigned(const wire::SharedMessage& shared, const MessageReceived& input) {
  switch (forks_.Watch(*shared, input.from)) {
    case Forks::Finding::kNone:
      break;
    case Forks::Finding::kForged:
      return Outcome::Wait();
    case Forks::Finding::kSplit:
      return Outcome::Freeze();
  }
  Fate fate = gate_.Sort(*shared, input.from);
  if (fate == Fate::kTakeIn) {
    if (components_.stage.is(Stage::kFollow)) follower_.NoteAttestation(*shared, input.from);
    fate = gate_.Judge(shared, input);
  }
  return Perform(fate, shared, input);
}

// Within the ration of `to`. Attack: its BOOT, sent again and again, is checked no more, and each
// would bring it the ECHOs of all members.
void Intake::AnswerEchoes(const PeerId& to) {
  for (const base::SharedBytes& frame : components_.genesis.EchoesFor(to)) {
    if (!components_.server.SendFrame(to, frame)) return;
  }
}

Outcome Intake::Perform(Fate fate, const wire::SharedMessage& shared,
                        const MessageReceived& input) {
  const PeerId& sender = shared->envelope.sender;
  const std::size_t first = components_.turn.done();
  switch (fate) {
    case Fate::kNothing:
      break;
    case Fate::kExhibit:
      OnExhibit(*shared, input);
      break;
    case Fate::kGenesisQuestion:
      if (components_.voice.step() == 0) AnswerEchoes(input.from);
      answers_.AnswerHead(input.from);
      SendBack(first, input.from, Rationed::kYes);
      break;
    case Fate::kPastSeal:
      answers_.HelpStuck(*shared, input.from);
      SendBack(first, input.from, Rationed::kYes);
      break;
    case Fate::kOdd:
      step_.step().sealing().OnOdd(*shared);
      break;
    case Fate::kPassedOver:
      step_.step().sealing().OnPassedOver(*shared);
      break;
    case Fate::kAhead:
      return LeaveIfBehind(sender);
    case Fate::kTakeIn: {
      const Outcome outcome = Accept(shared, input.blob);
      if (outcome.what != Outcome::What::kWait || !components_.stage.is(Stage::kLinger))
        return outcome;
      return ending_.OnCommit(sender);
    }
  }
  return Outcome::Wait();
}

Outcome Intake::LeaveIfBehind(const PeerId& sender) {
  // In kUpdate the head is of the new block and the state still of the old one. The next step
  // counts the members that are ahead anew.
  if (!gate_.NoteAhead(sender) || components_.stage.is(Stage::kUpdate)) return Outcome::Wait();
  return Outcome::Leave(kTooSlow);
}

// Nobody asks about a step that it has not come to. [A member was dropped when a cut ended, was
// asked for its head by all others in each step from then on, and asked nobody for theirs before
// its seal was slow. They took their last steps meanwhile, and ended.] A carrier could say it in
// any name.
Outcome Intake::LeaveIfAsksAhead(const PeerId& from, const wire::Slot& slot) {
  if (components_.ration.carries() || !step_.in()) return Outcome::Wait();
  return slot.step >= step_.step().number() + 2 ? LeaveIfBehind(from) : Outcome::Wait();
}

void Intake::OnExhibit(const wire::SignedEnvelope& message, const MessageReceived& input) {
  if (!components_.stage.in_step()) return;
  if (!components_.duties.IsExhibit(message, input.blob)) return;
  if (!components_.check.Verified(message, input.from)) return;  // it is passed on as its author's
  const wire::Slot& slot = message.envelope.slot;
  components_.chain.KeepPart(slot.step, {slot.iteration, message.envelope.sender},
                             {message.frame, input.blob});
}

// --- what is taken in ---------------------------------------------------------------------------

Outcome Intake::Accept(const wire::SharedMessage& shared, SharedBlob blob) {
  const wire::Slot& slot = shared->envelope.slot;
  const PeerId& sender = shared->envelope.sender;
  if (slot.phase == Phase::kGenesis) {
    if (components_.genesis.Wants(shared->envelope)) components_.inbox.Replace(shared);
    return Outcome::Wait();
  }
  const Inbox::Outcome added = components_.inbox.Add(shared, std::move(blob));
  if (added == Inbox::Outcome::kRival) {
    const Outcome outcome = KeepEquivocation(*components_.inbox.Find(Inbox::PlaceOf(slot), sender));
    if (outcome.what == Outcome::What::kHalt) return outcome;
  }
  if (IsSealMessage(slot.type) && sender != components_.self) KeepFaultOfSeal(*shared);
  if (Step* step = step_.last()) step->OnAccepted(*shared);
  return Outcome::Wait();
}

Outcome Intake::KeepEquivocation(const Inbox::Item& item) {
  if (item.rivals.size() != 1) return Outcome::Wait();  // the first rival proved it (I2)
  const wire::Envelope& envelope = item.message->envelope;
  if (envelope.sender == components_.self) {
    // Whatever is signed from here on may be the second message of its slot too, and a file about
    // it would convict this key: it is left to others to find.
    return Outcome::Halt(
        Halted::Why::kFailed,
        "another process signs with this key: end it, or this node, before both are banned; "
        "is the key in use on another machine, or was the data folder copied?");
  }
  components_.charges.ShowEquivocation(item);
  components_.voice.Suspect(envelope.sender, "equivocation",
                            std::string("signed two different messages of one ") +
                                wire::MessageTypeName(envelope.slot.type) + " slot");
  return Outcome::Wait();
}

// What a message of a seal proves by itself, or with another one of its signer.
void Intake::KeepFaultOfSeal(const wire::SignedEnvelope& message) {
  const PeerId& sender = message.envelope.sender;
  if (!message.IsReadable()) {
    components_.charges.Show(sender, evidence::MakeUnreadable(*message.frame));
  }
  if (components_.charges.FindBrokenLock(components_.inbox, message)) {
    components_.voice.Suspect(sender, "lock", "voted against an earlier lock of its own");
  }
}

// --- requests and answers -----------------------------------------------------------------------

void Intake::Malformed(const PeerId& from, const std::string& why) const {
  if (components_.ration.carries()) return;  // of two, nobody here knows which one spoilt it
  components_.voice.Suspect(from, "service", "sent a malformed request or answer: " + why);
}

Outcome Intake::OnService(const PeerId& from, const wire::SignedEnvelope& message,
                          const SharedBlob& blob) {
  const wire::Slot& slot = message.envelope.slot;
  if (!message.IsReadable()) Malformed(from, message.WhyUnreadable());
  if (slot.type == MessageType::kPull) {
    const std::size_t first = components_.turn.done();
    Outcome outcome = Outcome::Wait();
    if (const auto* pull = message.As<wire::Pull>()) outcome = OnPull(from, slot, *pull);
    SendBack(first, from, Rationed::kYes);
    return outcome.what == Outcome::What::kWait ? LeaveIfAsksAhead(from, slot) : outcome;
  }
  if (const auto* vector = message.As<wire::Vector>()) {
    if (step_.in()) step_.step().sealing().OnVector(slot, *vector);
  } else if (slot.type == MessageType::kBlock) {
    return OnBlock(from, blob);
  } else if (slot.type == MessageType::kChunk) {
    OnChunk(from, message, blob);
  } else if (const auto* forward = message.As<wire::Forward>()) {
    if (blob == nullptr) return OnForward(from, *forward);
    Malformed(from, "FORWARD: bulk data");
  }
  return Outcome::Wait();
}

Outcome Intake::OnForward(const PeerId& link, const wire::Forward& forward) {
  const Block& head = components_.chain.head();
  if (components_.ration.carries()) return Outcome::Wait();  // one within another
  if (!IsKey(head, forward.from) || !IsKey(head, forward.to)) return Outcome::Wait();
  if (components_.post.IsForSelf(link, forward)) {
    components_.ration.Carry(forward.from, link, components_.post.CarriedFor());
    const Outcome outcome = OnCarried(forward);
    components_.ration.EndCarry();
    return outcome;
  }
  const auto passed_on = components_.post.PassOn(link, forward);
  const bool may =
      passed_on && components_.ration.TakeForward(components_.turn.now(), link, forward.to,
                                                  forward.frame.size(), passed_on->service);
  if (may) components_.turn.Do(passed_on->send);
  return Outcome::Wait();
}

Outcome Intake::OnCarried(const wire::Forward& forward) {
  if (!forward.frame.empty()) {
    const auto frame = std::make_shared<const base::Bytes>(forward.frame);
    return On(MessageReceived{forward.from, frame, nullptr});
  }
  // There is a path by way of this carrier: what is said again goes that way.
  const std::size_t first = components_.turn.done();
  Greet(forward.from);
  SendBack(first, forward.from, Rationed::kNo);  // Greet has a ration of its own
  return Outcome::Wait();
}

void Intake::SendBack(std::size_t first, const PeerId& from, Rationed rationed) {
  // Where somebody else routes, an adversary has yet to change what is said.
  if (!components_.ration.carries() || !components_.routes) return;
  for (const Send& send : components_.turn.TakeBack(first, from)) {
    const auto back = components_.post.ByWayOf(components_.ration.carrier(), send);
    if (!back) continue;  // nobody could have carried it
    const bool free = rationed == Rationed::kNo;
    const std::size_t bytes = send.frame->size();
    if (!free && !components_.ration.TakeCarriedAnswer(components_.turn.now(), from, bytes)) return;
    components_.turn.Do(*back);
  }
}

void Intake::Greet(const PeerId& peer) {
  if (!components_.ration.TakeRepeat(components_.turn.now(), peer)) return;
  if (!components_.ration.carries()) {
    for (const Send& send : components_.post.Introduce(peer)) components_.turn.Do(send);
  }
  if (components_.stage.is(Stage::kFrozen)) return forks_.Show(peer);
  components_.journal.Repeat(peer);
  if (components_.stage.is(Stage::kFollow)) follower_.Follow(peer);
  // Whichever of the two was away, the other may have gone on.
  if (components_.stage.in_step() || components_.stage.is(Stage::kGenesis)) {
    components_.voice.AskHeads({peer}, components_.voice.step());
  }
}

Outcome Intake::OnPull(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull) {
  if (!answers_.Admits(from)) return Outcome::Wait();
  if (pull.kind == wire::PullKind::kProofs) {
    forks_.Answer(from, slot.step);
    return Outcome::Wait();
  }
  if (pull.kind != wire::PullKind::kFollow) {
    answers_.Answer(from, slot, pull);
    return Outcome::Wait();
  }
  const bool lingers = components_.stage.is(Stage::kLinger);
  // A carrier could say it in the name of one that still needs this member.
  if (lingers && !components_.ration.carries() && slot.step >= HeightOf(components_.chain.head())) {
    components_.followers.Remove(from);
    answers_.AnswerHead(from);
    return ending_.OnFinished(from);
  }
  std::optional<std::uint64_t> has;
  if (!components_.ration.carries()) has = slot.step;
  components_.followers.Note(from, components_.turn.now(), HeightOf(components_.chain.head()), has);
  if (lingers) ending_.StayFor(from);
  answers_.AnswerHead(from);
  return Outcome::Wait();
}

// A block as a member of this run could show it, by what can be seen without knowing the blocks
// before.
base::StatusOr<Block> Intake::DecodeShown(const SharedBlob& blob) const {
  ASSIGN_OR_RETURN(Block block, wire::DecodeBlock(blob->data));
  const std::vector<PeerId> keys = KeysOf(components_.chain.head());
  const bool open = IsOpen(*components_.manifest);  // others may have come since
  const auto are_keys = [&](const std::vector<PeerId>& peers) {
    return open || std::includes(keys.begin(), keys.end(), peers.begin(), peers.end());
  };
  if (!are_keys(block.members)) return base::InvalidArgument("members: no keys of this run");
  if (block.thresholds != ThresholdsIn(*components_.manifest, block.members.size())) {
    return base::InvalidArgument("thresholds: not those of its membership");
  }
  // A follower looks up the result root of each column.
  if (block.result_roots.size() != block.columns.size()) {
    return base::InvalidArgument("result roots: not one a column");
  }
  for (const Block::Column& column : block.aggregated) {
    if (!are_keys(column.senders)) return base::InvalidArgument("senders: no keys of this run");
  }
  return block;
}

Outcome Intake::OnBlock(const PeerId& from, const SharedBlob& blob) {
  const StageNow& stage = components_.stage;
  if (!stage.is(Stage::kGenesis) && !stage.is(Stage::kFollow) && !stage.in_step()) {
    return Outcome::Wait();
  }
  if (blob == nullptr) {
    if (gate_.IsFirstHand(from)) components_.genesis.OnWaiting(from);
    return Outcome::Wait();
  }
  const Digest digest = wire::DigestOfBlock(blob->data);
  const Time now = components_.turn.now();
  const bool tells_how_far =
      gate_.IsFirstHand(from) &&
      components_.followers.OnBlockOf(from, digest, now, components_.chain.delta());
  if (tells_how_far && stage.in_step()) return Outcome::Wait();
  auto look = CatchUp::Look::kNew;
  if (stage.is(Stage::kFollow)) look = follower_.LookAt(from, digest);
  if (look == CatchUp::Look::kHeld) return Outcome::Wait();
  const bool rationed = look == CatchUp::Look::kNew;
  if (rationed && !components_.ration.TakeOddBlock(now, from, blob->data.size())) {
    return Outcome::Wait();
  }
  auto block = DecodeShown(blob);
  if (!block.ok()) {
    Malformed(from, base::MessageOf(block.status()));
    return Outcome::Wait();
  }
  if (stage.is(Stage::kFollow)) {
    follower_.OnBlock(from, *std::move(block), blob);
    return Outcome::Wait();
  }
  if (stage.is(Stage::kGenesis)) {
    // The run has begun at `from`. If it is the block echoed here, its COMMIT comes too.
    const bool own = components_.genesis.IsOwnBlock(digest);
    return !own && gate_.NoteAhead(from) ? beginning_.LeaveGenesis() : Outcome::Wait();
  }
  forks_.OnBlock(from, *block);
  const std::uint64_t here = HeightOf(components_.chain.head());
  if (HeightOf(*block) >= here + 2) return LeaveIfBehind(from);
  // A member that is a little late is one block behind.
  const bool is_next = HeightOf(*block) == here + 1 && step_.step().sealing().IsStuck();
  return is_next ? LeaveForNext(from, *std::move(block), digest) : Outcome::Wait();
}

// The block itself is taken along: nobody may be able to prove it. [Two of four left for a block
// that one honest member had, and a liar that the block dropped. A head is believed by COMMITs of
// the next step of two of the four, and of those only the one could sign any.]
Outcome Intake::LeaveForNext(const PeerId& from, Block block, const Digest& digest) {
  if (!gate_.NoteNext(from, digest) || components_.stage.is(Stage::kUpdate)) return Outcome::Wait();
  follower_.Trust(std::make_shared<const Block>(std::move(block)));
  return Outcome::Leave(kTooSlow);
}

void Intake::OnChunk(const PeerId& from, const wire::SignedEnvelope& message,
                     const SharedBlob& blob) {
  const wire::Slot& slot = message.envelope.slot;
  const auto* chunk = message.As<wire::Chunk>();
  if (chunk == nullptr || blob == nullptr) return;
  if (components_.stage.is(Stage::kFollow)) return follower_.OnChunk(from, slot, *chunk, blob);
  if (slot.phase == kResultChunk && step_.in(slot.step)) {
    step_.step().TakeResult(chunk->index, blob);
  }
}

void Intake::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, gate_); }

}  // namespace ostraka::protocol
