#include "node/protocol/member/intake.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/mail/message_types.h"
#include "node/protocol/rules/invite_book.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

Intake::Intake(Uses uses, std::shared_ptr<wire::Opener> opener)
    : uses_(uses),
      parts_(*uses.parts),
      gate_({parts_.self, parts_.manifest, opener, &parts_.turn, &parts_.stage, &parts_.voice,
             &parts_.chain, &parts_.inbox, &parts_.ration, &parts_.check, &parts_.genesis,
             &parts_.past_seals, &parts_.charges}),
      answers_({parts_.self, &parts_.turn, &parts_.stage, &parts_.voice, &parts_.journal,
                &parts_.chain, &parts_.inbox, &parts_.ration, &parts_.past_seals, &parts_.server,
                &parts_.followers, opener.get()}) {}

// --- signed messages ----------------------------------------------------------------------------

Outcome Intake::On(const MessageReceived& input, Step* step) {
  // A carried message within another one is in the ration of its carrier.
  const Block& head = parts_.chain.head();
  const bool hosted =
      !parts_.ration.carries() && !IsMember(head.members, input.from) && MayBeHeard(input.from);
  if (!hosted || base::Planted(base::Bug::kGuestsAsMembers)) return Take(input, step);
  // Who follows itself takes blocks without a step that says so to the followers.
  if (parts_.stage.is(Stage::kFollow)) {
    const auto refuses = [this](const Voucher& voucher) { return IsRefusedForGood(voucher); };
    parts_.followers.EndRefused(head, refuses);
    if (!MayBeHeard(input.from)) return Outcome::Wait();
  }
  parts_.ration.Host(input.from, parts_.followers.ShareOf(input.from, head.standings.size()));
  const Outcome outcome = Take(input, step);
  parts_.ration.EndHost();
  return outcome;
}

Outcome Intake::Take(const MessageReceived& input, Step* step) {
  const auto shared = gate_.Open(input);
  if (!shared) return Outcome::Wait();
  const wire::Envelope& envelope = (*shared)->envelope;
  if (!MayBeHeard(input.from) && envelope.slot.type != MessageType::kRejoin) {
    return Outcome::Wait();
  }
  if (wire::IsService(envelope.slot.type)) {
    return OnService(input.from, **shared, input.blob, step);
  }
  if (parts_.stage.is(Stage::kFrozen)) {
    uses_.forks->Hear(**shared, input.from);
    return Outcome::Wait();
  }
  if (!gate_.HasItsBlob(envelope, input)) return Outcome::Wait();
  if (parts_.stage.is(Stage::kLinger)) {
    return Perform(gate_.JudgeAfterEnd(*shared, input.from), *shared, input, step);
  }
  if (envelope.slot.type != MessageType::kRejoin) return OnSigned(*shared, input, step);
  OnRejoin(**shared, input.from);
  return Outcome::Wait();
}

// Of others nothing is kept, decoded or answered. Attack: an open run takes a link from anybody.
bool Intake::MayBeHeard(const PeerId& from) const {
  return IsKey(parts_.chain.head(), from) || parts_.followers.IsGuest(from);
}

const StepFacts* Intake::FactsInStep(const Step* step) const {
  return parts_.stage.in_step() ? &step->facts() : nullptr;
}

Outcome Intake::OnSigned(const wire::SharedMessage& shared, const MessageReceived& input,
                         Step* step) {
  switch (uses_.forks->Watch(*shared, input.from, FactsInStep(step))) {
    case Forks::Finding::kNone:
      break;
    case Forks::Finding::kForged:
      return Outcome::Wait();
    case Forks::Finding::kSplit:
      return Outcome::Freeze();
  }
  Fate fate = gate_.Sort(*shared, input.from, step);
  if (fate == Fate::kTakeIn) {
    if (parts_.stage.is(Stage::kFollow)) uses_.follower->NoteAttestation(*shared, input.from);
    fate = gate_.Judge(shared, input, step);
  }
  return Perform(fate, shared, input, step);
}

// Within the ration of `to`. Attack: its BOOT, sent again and again, is checked no more, and each
// would bring it the ECHOs of all members.
void Intake::AnswerEchoes(const PeerId& to) {
  for (const base::SharedBytes& frame : parts_.genesis.EchoesFor(to)) {
    if (!parts_.server.SendFrame(to, frame)) return;
  }
}

Outcome Intake::Perform(Fate fate, const wire::SharedMessage& shared, const MessageReceived& input,
                        Step* step) {
  const PeerId& sender = shared->envelope.sender;
  const std::size_t first = parts_.turn.done();
  switch (fate) {
    case Fate::kNothing:
      break;
    case Fate::kExhibit:
      OnExhibit(*shared, input);
      break;
    case Fate::kGenesisQuestion:
      if (parts_.voice.step() == 0) AnswerEchoes(input.from);
      answers_.AnswerHead(input.from);
      SendBack(first, input.from, Rationed::kYes);
      break;
    case Fate::kPastSeal:
      answers_.HelpStuck(*shared, input.from);
      SendBack(first, input.from, Rationed::kYes);
      break;
    case Fate::kOdd:
      step->sealing().OnOdd(*shared);
      break;
    case Fate::kPassedOver:
      step->sealing().OnPassedOver(*shared);
      break;
    case Fate::kAhead:
      return LeaveIfBehind(sender);
    case Fate::kTakeIn: {
      const Outcome outcome = Accept(shared, input.blob, step);
      if (outcome.what != Outcome::What::kWait || !parts_.stage.is(Stage::kLinger)) return outcome;
      return uses_.ending->OnCommit(sender);
    }
  }
  return Outcome::Wait();
}

Outcome Intake::LeaveIfBehind(const PeerId& sender) {
  // In kUpdate the head is of the new block and the state still of the old one. The next step
  // counts the members that are ahead anew.
  if (!gate_.NoteAhead(sender) || parts_.stage.is(Stage::kUpdate)) return Outcome::Wait();
  return Outcome::Leave("the others are steps ahead: this node was too slow, or cut off");
}

// Nobody asks about a step that it has not come to. [A member was dropped when a cut ended, was
// asked for its head by all others in each step from then on, and asked nobody for theirs before
// its seal was slow. They took their last steps meanwhile, and ended.] A carrier could say it in
// any name.
Outcome Intake::LeaveIfAsksAhead(const PeerId& from, const wire::Slot& slot, const Step* step) {
  if (parts_.ration.carries() || !parts_.stage.in_step()) return Outcome::Wait();
  return slot.step >= step->number() + 2 ? LeaveIfBehind(from) : Outcome::Wait();
}

void Intake::OnExhibit(const wire::SignedEnvelope& message, const MessageReceived& input) {
  if (!parts_.stage.in_step()) return;
  if (!parts_.duties.IsExhibit(message, input.blob)) return;
  if (!parts_.check.Verified(message, input.from)) return;  // it is passed on as its author's
  const wire::Slot& slot = message.envelope.slot;
  parts_.chain.KeepPart(slot.step, {slot.iteration, message.envelope.sender},
                        {message.frame, input.blob});
}

// The manifest names it, or its credential is good. Not whether there is a seat: it follows then,
// and sees by itself why it does not get in.
bool Intake::IsVouched(const PeerId& sender, const wire::Rejoin& rejoin) {
  const Manifest& manifest = *parts_.manifest;
  if (!rejoin.credential) return IsAllowed(manifest, sender);
  return manifest.join.policy == JoinPolicy::kInvite &&
         IsModerator(manifest, rejoin.credential->invite.moderator) &&
         parts_.check.VerifiedCredential(manifest.run_id, *rejoin.credential, sender, sender);
}

void Intake::OnRejoin(const wire::SignedEnvelope& message, const PeerId& from) {
  const PeerId& sender = message.envelope.sender;
  const std::uint64_t asked_in = message.envelope.slot.step;
  const Block& head = parts_.chain.head();
  const Time now = parts_.turn.now();
  if (!parts_.stage.in_step() && !parts_.stage.is(Stage::kFollow)) return;
  if (sender != from || IsMember(head.members, sender)) return;
  if (parts_.followers.HasRejoin(sender, asked_in)) return;
  const Standing* standing = StandingOf(head.standings, sender);
  if (standing != nullptr && standing->banned) return;
  const bool stranger = standing == nullptr;
  const bool guest = parts_.followers.IsGuest(sender);
  if (stranger && !guest && !parts_.ration.TakeStranger(now, sender)) return;
  if (!parts_.check.VerifiedOdd(message, from)) return;  // one of the next step is new each time
  const auto* rejoin = message.As<wire::Rejoin>();
  if (rejoin == nullptr) return Malformed(from, message.WhyUnreadable());
  const std::uint64_t step = HeightOf(head);
  Followers::Request request{asked_in, message.envelope.entry, std::nullopt};
  // What a member that may return shows is not looked at. Attack: its seat ends while its REJOIN is
  // held, and a voucher that nobody verified lets it in.
  if (!MayReturn(head, sender, step)) {
    if (!IsVouched(sender, *rejoin)) return;
    if (rejoin->credential) {
      request.voucher = VoucherOf(parts_.manifest->run_id, rejoin->credential->invite);
    }
  }
  std::optional<InviteBook> book;  // a copy of up to 1,024 entries, only where places are short
  const auto refuses = [&](const Voucher& voucher) {
    if (!book) book.emplace(head, step);
    return book->LastingRefusalOf(voucher, *parts_.manifest, step).has_value();
  };
  if (stranger && !guest && request.voucher && IsRefusedForGood(*request.voucher)) {
    // It sees by the head why it may not come in (Follower::RefusalByNewest), and need not follow.
    const GuestShare share = parts_.followers.ShareBy(sender, request.voucher);
    return parts_.server.ShowHeadAsGuest(sender, share);
  }
  if (stranger && !parts_.followers.Welcome(sender, request.voucher, now, refuses)) return;
  parts_.followers.OnRejoin(sender, request, now, step);
  if (stranger) AskHowFar(sender, request);
}

bool Intake::IsRefusedForGood(const Voucher& voucher) const {
  if (base::Planted(base::Bug::kGuestsAreForEver)) return false;
  const Block& head = parts_.chain.head();
  const std::uint64_t step = HeightOf(head);
  return InviteBook(head, step).LastingRefusalOf(voucher, *parts_.manifest, step).has_value();
}

// How far a stranger is (Followers, F6), as soon as its REJOIN can be confirmed. It may have the
// block earlier than this member.
void Intake::AskHowFar(const PeerId& peer, const Followers::Request& request) {
  if (request.block.is_zero() || request.asked_in == 0) return;
  const Time now = parts_.turn.now();
  if (!parts_.followers.AsksHowFar(peer, request.block, now, parts_.chain.delta())) return;
  parts_.voice.Ask(peer, ServiceSlot(request.asked_in - 1, Phase::kC, MessageType::kPull),
                   {.kind = wire::PullKind::kBlock, .index = 1});
}

// --- what is taken in ---------------------------------------------------------------------------

Outcome Intake::Accept(const wire::SharedMessage& shared, SharedBlob blob, Step* step) {
  const wire::Slot& slot = shared->envelope.slot;
  const PeerId& sender = shared->envelope.sender;
  if (slot.phase == Phase::kGenesis) {
    if (parts_.genesis.Wants(shared->envelope)) parts_.inbox.Replace(shared);
    return Outcome::Wait();
  }
  const Inbox::Outcome added = parts_.inbox.Add(shared, std::move(blob));
  if (added == Inbox::Outcome::kRival) {
    const Outcome outcome = KeepEquivocation(*parts_.inbox.Find(Inbox::PlaceOf(slot), sender));
    if (outcome.what == Outcome::What::kHalt) return outcome;
  }
  if (IsSealMessage(slot.type) && sender != parts_.self) KeepFaultOfSeal(*shared);
  if (step != nullptr) step->OnAccepted(*shared);
  return Outcome::Wait();
}

Outcome Intake::KeepEquivocation(const Inbox::Item& item) {
  if (item.rivals.size() != 1) return Outcome::Wait();  // the first rival proved it (I2)
  const wire::Envelope& envelope = item.message->envelope;
  if (envelope.sender == parts_.self) {
    // Whatever is signed from here on may be the second message of its slot too, and a file about
    // it would convict this key: it is left to others to find.
    return Outcome::Halt(
        Halted::Why::kFailed,
        "another process signs with this key: end it, or this node, before both are banned; "
        "is the key in use on another machine, or was the data folder copied?");
  }
  parts_.charges.ShowEquivocation(item);
  parts_.voice.Suspect(envelope.sender, "equivocation",
                       std::string("signed two different messages of one ") +
                           wire::MessageTypeName(envelope.slot.type) + " slot");
  return Outcome::Wait();
}

// What a message of a seal proves by itself, or with another one of its signer.
void Intake::KeepFaultOfSeal(const wire::SignedEnvelope& message) {
  const PeerId& sender = message.envelope.sender;
  if (!message.IsReadable()) {
    parts_.charges.Show(sender, evidence::MakeUnreadable(*message.frame));
  }
  if (parts_.charges.FindBrokenLock(parts_.inbox, message)) {
    parts_.voice.Suspect(sender, "lock", "voted against an earlier lock of its own");
  }
}

// --- requests and answers -----------------------------------------------------------------------

void Intake::Malformed(const PeerId& from, const std::string& why) const {
  if (parts_.ration.carries()) return;  // of two, nobody here knows which one spoilt it
  parts_.voice.Suspect(from, "service", "sent a malformed request or answer: " + why);
}

Outcome Intake::OnService(const PeerId& from, const wire::SignedEnvelope& message,
                          const SharedBlob& blob, Step* step) {
  const wire::Slot& slot = message.envelope.slot;
  if (!message.IsReadable()) Malformed(from, message.WhyUnreadable());
  if (slot.type == MessageType::kPull) {
    const std::size_t first = parts_.turn.done();
    Outcome outcome = Outcome::Wait();
    if (const auto* pull = message.As<wire::Pull>()) outcome = OnPull(from, slot, *pull, step);
    SendBack(first, from, Rationed::kYes);
    return outcome.what == Outcome::What::kWait ? LeaveIfAsksAhead(from, slot, step) : outcome;
  }
  if (const auto* vector = message.As<wire::Vector>()) {
    if (step != nullptr) step->sealing().OnVector(slot, *vector);
  } else if (slot.type == MessageType::kBlock) {
    return OnBlock(from, blob, step);
  } else if (slot.type == MessageType::kChunk) {
    OnChunk(from, message, blob, step);
  } else if (const auto* forward = message.As<wire::Forward>()) {
    if (blob == nullptr) return OnForward(from, *forward, step);
    Malformed(from, "FORWARD: bulk data");
  }
  return Outcome::Wait();
}

Outcome Intake::OnForward(const PeerId& link, const wire::Forward& forward, Step* step) {
  const Block& head = parts_.chain.head();
  if (parts_.ration.carries()) return Outcome::Wait();  // one within another
  if (!IsKey(head, forward.from) || !IsKey(head, forward.to)) return Outcome::Wait();
  if (parts_.post.IsForSelf(link, forward)) {
    parts_.ration.Carry(forward.from, link, parts_.post.CarriedFor());
    const Outcome outcome = OnCarried(forward, step);
    parts_.ration.EndCarry();
    return outcome;
  }
  const auto passed_on = parts_.post.PassOn(link, forward);
  const bool may = passed_on && parts_.ration.TakeForward(parts_.turn.now(), link, forward.to,
                                                          forward.frame.size(), passed_on->service);
  if (may) parts_.turn.Do(passed_on->send);
  return Outcome::Wait();
}

Outcome Intake::OnCarried(const wire::Forward& forward, Step* step) {
  if (!forward.frame.empty()) {
    const auto frame = std::make_shared<const base::Bytes>(forward.frame);
    return On(MessageReceived{forward.from, frame, nullptr}, step);
  }
  // There is a path by way of this carrier: what is said again goes that way.
  const std::size_t first = parts_.turn.done();
  Greet(forward.from);
  SendBack(first, forward.from, Rationed::kNo);  // Greet has a ration of its own
  return Outcome::Wait();
}

void Intake::SendBack(std::size_t first, const PeerId& from, Rationed rationed) {
  // Where somebody else routes, an adversary has yet to change what is said.
  if (!parts_.ration.carries() || !parts_.routes) return;
  for (const Send& send : parts_.turn.TakeBack(first, from)) {
    const auto back = parts_.post.ByWayOf(parts_.ration.carrier(), send);
    if (!back) continue;  // nobody could have carried it
    const bool free = rationed == Rationed::kNo;
    const std::size_t bytes = send.frame->size();
    if (!free && !parts_.ration.TakeCarriedAnswer(parts_.turn.now(), from, bytes)) return;
    parts_.turn.Do(*back);
  }
}

void Intake::Greet(const PeerId& peer) {
  if (!parts_.ration.TakeRepeat(parts_.turn.now(), peer)) return;
  if (!parts_.ration.carries()) {
    for (const Send& send : parts_.post.Introduce(peer)) parts_.turn.Do(send);
  }
  if (parts_.stage.is(Stage::kFrozen)) return uses_.forks->Show(peer);
  parts_.journal.Repeat(peer);
  if (parts_.stage.is(Stage::kFollow)) uses_.follower->Follow(peer);
  // Whichever of the two was away, the other may have gone on.
  if (parts_.stage.in_step() || parts_.stage.is(Stage::kGenesis)) {
    parts_.voice.AskHeads({peer}, parts_.voice.step());
  }
}

Outcome Intake::OnPull(const PeerId& from, const wire::Slot& slot, const wire::Pull& pull,
                       const Step* step) {
  if (!answers_.Admits(from)) return Outcome::Wait();
  if (pull.kind == wire::PullKind::kProofs) {
    uses_.forks->Answer(from, slot.step);
    return Outcome::Wait();
  }
  if (pull.kind != wire::PullKind::kFollow) {
    answers_.Answer(from, slot, pull, step);
    return Outcome::Wait();
  }
  const bool lingers = parts_.stage.is(Stage::kLinger);
  // A carrier could say it in the name of one that still needs this member.
  if (lingers && !parts_.ration.carries() && slot.step >= HeightOf(parts_.chain.head())) {
    parts_.followers.Remove(from);
    answers_.AnswerHead(from);
    return uses_.ending->OnFinished(from);
  }
  std::optional<std::uint64_t> has;
  if (!parts_.ration.carries()) has = slot.step;
  parts_.followers.Note(from, parts_.turn.now(), HeightOf(parts_.chain.head()), has);
  if (lingers) uses_.ending->StayFor(from);
  answers_.AnswerHead(from);
  return Outcome::Wait();
}

// A block as a member of this run could show it, by what can be seen without knowing the blocks
// before.
base::StatusOr<Block> Intake::DecodeShown(const SharedBlob& blob) const {
  ASSIGN_OR_RETURN(Block block, wire::DecodeBlock(blob->data));
  const std::vector<PeerId> keys = KeysOf(parts_.chain.head());
  const bool open = IsOpen(*parts_.manifest);  // others may have come since
  const auto are_keys = [&](const std::vector<PeerId>& peers) {
    return open || std::includes(keys.begin(), keys.end(), peers.begin(), peers.end());
  };
  if (!are_keys(block.members)) return base::InvalidArgument("members: no keys of this run");
  if (block.thresholds != ThresholdsIn(*parts_.manifest, block.members.size())) {
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

Outcome Intake::OnBlock(const PeerId& from, const SharedBlob& blob, const Step* step) {
  const StageNow& stage = parts_.stage;
  if (!stage.is(Stage::kGenesis) && !stage.is(Stage::kFollow) && !stage.in_step()) {
    return Outcome::Wait();
  }
  if (blob == nullptr) {
    if (gate_.IsFirstHand(from)) parts_.genesis.OnWaiting(from);
    return Outcome::Wait();
  }
  const Digest digest = wire::DigestOfBlock(blob->data);
  const Time now = parts_.turn.now();
  const bool tells_how_far = gate_.IsFirstHand(from) &&
                             parts_.followers.OnBlockOf(from, digest, now, parts_.chain.delta());
  if (tells_how_far && stage.in_step()) return Outcome::Wait();
  auto look = CatchUp::Look::kNew;
  if (stage.is(Stage::kFollow)) look = uses_.follower->LookAt(from, digest);
  if (look == CatchUp::Look::kHeld) return Outcome::Wait();
  const bool rationed = look == CatchUp::Look::kNew;
  if (rationed && !parts_.ration.TakeOddBlock(now, from, blob->data.size())) {
    return Outcome::Wait();
  }
  auto block = DecodeShown(blob);
  if (!block.ok()) {
    Malformed(from, base::MessageOf(block.status()));
    return Outcome::Wait();
  }
  if (stage.is(Stage::kFollow)) {
    uses_.follower->OnBlock(from, *std::move(block), blob);
    return Outcome::Wait();
  }
  if (stage.is(Stage::kGenesis)) {
    // The run has begun at `from`. If it is the block echoed here, its COMMIT comes too.
    const bool own = parts_.genesis.IsOwnBlock(digest);
    return !own && gate_.NoteAhead(from) ? uses_.beginning->LeaveGenesis() : Outcome::Wait();
  }
  uses_.forks->OnBlock(from, *block, FactsInStep(step));
  // A member that is a little late is one block behind.
  const std::uint64_t ahead = step->sealing().IsStuck() ? 1 : 2;
  const bool behind = HeightOf(*block) >= HeightOf(parts_.chain.head()) + ahead;
  return behind ? LeaveIfBehind(from) : Outcome::Wait();
}

void Intake::OnChunk(const PeerId& from, const wire::SignedEnvelope& message,
                     const SharedBlob& blob, Step* step) {
  const wire::Slot& slot = message.envelope.slot;
  const auto* chunk = message.As<wire::Chunk>();
  if (chunk == nullptr || blob == nullptr) return;
  if (parts_.stage.is(Stage::kFollow)) return uses_.follower->OnChunk(from, slot, *chunk, blob);
  const bool result = parts_.stage.in_step() && slot.phase == kResultChunk;
  if (result && slot.step == step->number()) step->TakeResult(chunk->index, blob);
}

void Intake::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, gate_); }

}  // namespace ostraka::protocol
