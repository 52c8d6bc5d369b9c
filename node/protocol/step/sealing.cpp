#include "node/protocol/step/sealing.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/deadlines.h"
#include "node/protocol/mail/message_types.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

constexpr MessageType kSealTypes[] = {MessageType::kEcho,   MessageType::kClose,
                                      MessageType::kStatus, MessageType::kPropose,
                                      MessageType::kVote,   MessageType::kLock};
// Iterations of a seal after which a member asks itself whether the run went on without it.
constexpr std::uint32_t kStuckIterations = 3;
// Limits per seal and link for extra messages: third and later versions of one slot, and ballots of
// past iterations. The second figure is for each member, as a link may forward what locks rest on.
// Counted for the link, not for the signer: otherwise a relay could use up an honest member's
// quota.
constexpr std::size_t kOddBallots = 256;
constexpr std::size_t kOddBallotsOfEach = 8;

// All are of one type, so one frame tells it.
std::vector<PastSeal::Proof> ProofsOf(const std::vector<SealFrame>& certificate) {
  OSTRAKA_CHECK(!certificate.empty());
  const auto first = wire::Open(certificate.front().frame);
  OSTRAKA_CHECK(first.ok());  // it was opened when it came
  std::vector<PastSeal::Proof> proofs;
  for (const SealFrame& of : certificate) {
    proofs.push_back({first->envelope.slot.type, of.sender, of.frame});
  }
  return proofs;
}

// A member that closes at its deadline ends the wait of those that opened up to a Delta later. An
// owner that lacks a part waits P + 2 Delta for it and then aggregates, so only a P that is long
// beside Delta leaves it the time; else the deadline counts like a complete phase [at P below
// 5/4 Delta owners passed the gate before they had their aggregates, and were left out].
CloseTime CloseAtDeadline(Phase phase, const Core& core) {
  const bool at_once = phase == Phase::kB ||
                       PartWaitAfter(core.chain.head(), *core.manifest) >= core.chain.delta() * 4;
  return at_once ? CloseTime::kWithEcho : CloseTime::kAfterEcho;
}

}  // namespace

// --- opening ------------------------------------------------------------------------------------

void Sealing::Open(Phase phase, std::uint32_t draw, base::Duration deadline,
                   std::optional<Time> step_before_ended) {
  OSTRAKA_CHECK(seal_ == nullptr && phase != Phase::kGenesis);  // S1
  OSTRAKA_CHECK(!facts_.ParentOf(phase).is_zero());
  const Block& head = core_.chain.head();
  slot_ = core_.voice.SlotOf(facts_.number(), phase, MessageType::kEcho, draw);
  entries_.emplace(phase, draw, facts_, core_, charges_);
  SealOptions options;
  options.slot = slot_;
  options.self = core_.self;
  options.members = SealersOf(head);
  options.muted_members = facts_.muted;
  options.thresholds = head.thresholds;
  options.delta = core_.chain.delta();
  options.moment = MomentOf(*core_.manifest);
  options.leader_seed = LeaderSeed();
  options.entries = entries_->Count();
  seal_ = std::make_unique<Seal>(std::move(options), &*entries_);
  overdue_ = false;
  pull_.Disarm();
  pull_.Restart();
  core_.inbox.ForgetWants();
  odd_.clear();
  transcript_ = {};
  core_.turn.Do(CancelTimer{kPullTimer});
  core_.turn.Do(CancelTimer{kSealTimer});
  const TimerId seal_number = step() * 4 + static_cast<TimerId>(phase);
  const TimerId pile = base::Planted(base::Bug::kTimersPileUp) ? 8 * (seal_number + 1) : 0;
  core_.turn.Do(SetTimer{kEchoTimer + pile, core_.turn.now() + deadline});
  WatchEchoes(deadline, step_before_ended);
  FeedHeld(phase, draw);
  SealOutput output;
  seal_->Opened(core_.turn.now(), output);
  Perform(std::move(output));
}

// The newest coin that all members know.
const Digest& Sealing::LeaderSeed() const {
  switch (slot_.phase) {
    case Phase::kC:
      return facts_.reading.randomness;
    case Phase::kA:
    case Phase::kB:
    case Phase::kGenesis:
      break;
  }
  return core_.chain.head().randomness;
}

// Messages that came early, or were sent before a crash: own messages first.
void Sealing::FeedHeld(Phase phase, std::uint32_t draw) {
  std::vector<wire::SharedMessage> early;
  for (const MessageType type : kSealTypes) {
    for (const auto& [sender, item] : core_.inbox.At(facts_.PlaceOf(phase, type, draw))) {
      early.push_back(item.message);
      for (const Inbox::Version& rival : item.rivals) early.push_back(rival.message);
    }
  }
  std::stable_partition(early.begin(), early.end(), [this](const wire::SharedMessage& message) {
    return message->envelope.sender == core_.self;
  });
  for (const Journal::Sent& sent : core_.journal.sent()) {  // own slow path, restored
    const wire::Slot& slot = sent.slot;
    const bool of_this = slot.step == step() && slot.phase == phase && slot.draw == draw;
    if (!of_this || slot.type < MessageType::kStatus || slot.type > MessageType::kLock) continue;
    const auto opened = wire::Open(sent.frame);
    if (opened.ok()) Feed(*opened);
  }
  for (const wire::SharedMessage& message : early) Feed(*message);
}

// ECHOs of others that no honest member sends are looked for (node/protocol/watch/echo_watch.h).
void Sealing::WatchEchoes(base::Duration deadline, std::optional<Time> step_before_ended) {
  EchoWatch::Options options;
  options.delta = core_.chain.delta();
  if (!WaitsForLastCoin()) options.deadline = core_.turn.now() + deadline;
  // Honest members open seal A when they have settled the step before and updated the model, which
  // takes some longer than others [a member that had to look for a result opened 1.3 Delta late,
  // and the deadlines of the others seemed hasty to it]. None opens it sooner than a Delta before
  // the decision here that ended that step. A member that saw none finds no ECHO hasty.
  if (slot_.phase == Phase::kA) {
    options.deadline = step_before_ended ? *step_before_ended + deadline : Time{};
  }
  for (std::size_t i = 0; i < entries_->Count(); ++i) {
    // Nobody waits for the AGG of a member with two COMMITs.
    if (entries_->PlaceOf(i)) options.due.push_back({i, entries_->CommitEntryOf(i)});
  }
  reports_.WatchEchoes(std::move(options));
}

// --- what comes ---------------------------------------------------------------------------------

bool Sealing::IsFor(const wire::Slot& slot) const {
  return seal_ != nullptr && SealKeyOf(slot) == SealKeyOf(slot_);
}

void Sealing::OnAccepted(const wire::SignedEnvelope& message) {
  const wire::Slot& slot = message.envelope.slot;
  if (seal_ == nullptr || slot.step != slot_.step || slot.phase != slot_.phase) return;
  if (IsSealMessage(slot.type)) {
    if (slot.draw == slot_.draw) Feed(message);
  } else if (seal_->wait_ended()) {
    SealOutput output;
    seal_->OnHeld(core_.turn.now(), output);
    Perform(std::move(output));
  }
}

bool Sealing::TakeOdd(const PeerId& from) {
  return ++odd_[from] <= kOddBallots + kOddBallotsOfEach * SealersOf(core_.chain.head()).size();
}

bool Sealing::IsPassedOver(const wire::SignedEnvelope& message) const {
  const wire::Slot& slot = message.envelope.slot;
  if (!IsSealMessage(slot.type) || !IsFor(slot)) return false;
  if (message.envelope.entry != facts_.ParentOf(slot_.phase)) return false;
  return !facts_.muted.contains(message.envelope.sender) && !seal_->Holds(message);
}

void Sealing::OnPassedOver(const wire::SignedEnvelope& message) {
  const wire::Envelope& envelope = message.envelope;
  const auto held =
      core_.inbox.Shared(Inbox::PlaceOf(envelope.slot), envelope.sender, message.digest);
  if (held == nullptr) return;
  SealOutput output;
  seal_->OnMessage(core_.turn.now(), *held, output);
  Perform(std::move(output));
}

void Sealing::OnVector(const wire::Slot& slot, const wire::Vector& vector) {
  if (!IsFor(slot)) return;
  SealOutput output;
  seal_->OnVector(core_.turn.now(), vector, output);
  Perform(std::move(output));
}

// A draw that needs the only member left waits for it without a deadline, and asks whether others
// have gone on: to give up on that member too would end the run. While messages are timely at least
// a quorum is left after the faulty have spoilt a draw each. While they are not, honest members
// spoil draws as well [with a draw for each faulty member and one more, the last one waited for
// ever: for a member that lost its disk after a cut had spoilt a draw (swarm seed 40183), or for a
// cheat that kept quiet then].
bool Sealing::WaitsForLastCoin() const {
  return seal_ != nullptr && slot_.phase == Phase::kB &&
         facts_.reading.RevealersLeft(core_.chain.head()) == 1 && !seal_->wait_ended();
}

void Sealing::OnEchoTimer() {
  if (seal_ == nullptr) return;
  if (WaitsForLastCoin()) {
    overdue_ = true;
    core_.voice.AskHeads(SealersOf(core_.chain.head()), step());
    core_.turn.Do(SetTimer{kEchoTimer, core_.turn.now() + core_.chain.delta() * 2});
    return;
  }
  SealOutput output;
  seal_->Echo(core_.turn.now(), CloseAtDeadline(slot_.phase, core_), output);
  Perform(std::move(output));
}

void Sealing::OnSealTimer() {
  if (seal_ == nullptr) return;
  SealOutput output;
  seal_->OnTimer(core_.turn.now(), output);
  Perform(std::move(output));
}

bool Sealing::Drive(bool complete) {
  OSTRAKA_CHECK(open());
  if (complete && !seal_->wait_ended()) {
    SealOutput output;
    seal_->Echo(core_.turn.now(), CloseTime::kAfterEcho, output);
    Perform(std::move(output));
  }
  return seal_->decision().has_value();
}

void Sealing::Feed(const wire::SignedEnvelope& message) {
  // Another parent is another history, or a cheat: not this seal's. The signer chooses it, so the
  // slot counts too [a third ECHO for a slot of phase C, with the parent of seal A, counted there
  // at one honest member and at nobody else: it went on alone, and the run halted].
  if (message.envelope.entry != facts_.ParentOf(slot_.phase)) return;
  if (SealKeyOf(message.envelope.slot) != SealKeyOf(slot_)) return;
  transcript_.Add(message);
  SealOutput output;
  seal_->OnMessage(core_.turn.now(), message, output);
  Perform(std::move(output));
  if (message.envelope.slot.type != MessageType::kEcho) return;
  const PeerId& sender = message.envelope.sender;
  const auto* echo = message.As<wire::Echo>();
  if (echo != nullptr) reports_.OnEcho(sender, *echo, core_.turn.now());
  if (sender != core_.self) pull_.Arm(MomentOf(*core_.manifest));
}

// --- what the seal says -------------------------------------------------------------------------

void Sealing::Perform(SealOutput output) {
  const std::vector<PeerId>& members = SealersOf(core_.chain.head());
  Say(std::move(output.say));
  if (output.unhelped) {
    core_.voice.AskHeads(members, step());
    // While the gate stays shut there is no iteration in which to say for whom the seal waits.
    if (seal_->iteration() == 0 && seal_->Certificate().empty()) TellSlow(0);
    charges_.StoreVerdicts();
  }
  for (const SharedBytes& frame : output.forward) {
    for (const PeerId& member : members) {
      if (member != core_.self) core_.turn.Do(Send{member, frame, nullptr});
    }
  }
  wire::Slot slot = slot_;
  slot.type = MessageType::kVector;
  for (const auto& [to, vector] : output.answer_vector) {
    if (to != core_.self) core_.voice.SendService(to, slot, wire::Encode(vector));
  }
  for (const SealAsk& ask : output.ask) {
    if (ask.pull.kind == wire::PullKind::kDigests) {
      for (const Digest& digest : ask.pull.digests) core_.inbox.Want(digest);
    }
    reports_.OnAsked(ask.to, core_.turn.now());
    core_.voice.Ask(ask.to, slot_, ask.pull);
  }
  if (seal_->gate_passed()) reports_.OnGate(core_.turn.now());
  if (const auto wake = seal_->wake()) {
    core_.turn.Do(SetTimer{kSealTimer, std::max(*wake, core_.turn.now())});
  }
}

void Sealing::Say(std::vector<SealSay> says) {
  std::vector<Draft> drafts;
  for (SealSay& say : says) {
    const wire::Slot slot =
        core_.voice.SlotOf(step(), slot_.phase, say.type, slot_.draw, say.iteration);
    drafts.push_back(core_.voice.MakeDraft(slot, facts_.ParentOf(slot_.phase), std::move(say.body),
                                           SealersOf(core_.chain.head())));
    if (say.type == MessageType::kEcho) pull_.Arm({core_.chain.delta().ns / 2});
    if (say.type != MessageType::kStatus) continue;
    if (say.iteration > 1) {
      core_.voice.AskHeads(SealersOf(core_.chain.head()), step());
      charges_.StoreVerdicts();
    }
    core_.inbox.ForgetSlowPath(say.iteration < 2 ? 0 : say.iteration - 1);
    reports_.OnSilent(seal_->silent());
    TellSlow(say.iteration);
  }
  if (!drafts.empty()) core_.voice.Prepare(std::move(drafts));
}

void Sealing::TellSlow(std::uint32_t iteration) const {
  core_.turn.Do(Observe{SlowSeal{step(), static_cast<std::uint8_t>(slot_.phase), iteration,
                                 seal_->Describe(core_.turn.now())}});
}

bool Sealing::IsStuck() const {
  return seal_ != nullptr && (overdue_ || seal_->iteration() >= kStuckIterations || seal_->alone());
}

const Seal& Sealing::seal() const {
  OSTRAKA_CHECK(open());
  return *seal_;
}

Entries& Sealing::entries() {
  OSTRAKA_CHECK(open());
  return *entries_;
}

const Entries& Sealing::entries() const {
  OSTRAKA_CHECK(open());
  return *entries_;
}

// --- closing ------------------------------------------------------------------------------------

void Sealing::TakeWatches() {
  OSTRAKA_CHECK(open() && seal_->decision());
  reports_.TakeSeal(SealersOf(core_.chain.head()), EchoOf(*seal_->decision()).vector,
                    seal_->iteration() > 0, core_.turn.now(),
                    [this](const Digest& value) { return IsShown(value); });
}

// The vector of that hash is known here, and every message that it names is held.
bool Sealing::IsShown(const Digest& value) const {
  const auto known = seal_->VectorFor(value);
  const auto vector = known ? VectorOf(*known) : std::nullopt;
  return vector && entries_->HoldsAll(*vector);
}

Digest Sealing::Close() {
  OSTRAKA_CHECK(open() && seal_->decision());  // S3
  const Block& head = core_.chain.head();
  const SealVector& vector = *seal_->decision();
  const Digest value = HashOf(vector);
  const Digest& parent = facts_.ParentOf(slot_.phase);
  const Digest decision = DecisionDigest(slot_, value, parent);
  const bool slow = seal_->iteration() > 0;
  core_.turn.Do(Observe{protocol::Sealed{step(), static_cast<std::uint8_t>(slot_.phase), decision,
                                         slot_.draw, seal_->iteration()}});
  if (!slow) {
    reports_.NoteLags(seal_->lags(), head.thresholds.quorum(), core_.chain.delta());
  }
  past_seals_.Add(SealKeyOf(slot_), {vector, value, ProofsOf(seal_->SignedCertificate())});
  Decision decided{parent, value, {}, head.thresholds.quorum(), seal_->Certificate()};
  for (const PeerId& member : SealersOf(head)) {
    if (!facts_.muted.contains(member)) decided.unmuted.insert(member);
  }
  if (transcript_.slow()) decided.messages = std::move(transcript_);
  forks_.Remember(SealKeyOf(slot_), std::move(decided));
  core_.inbox.ForgetSlowPath();
  seal_.reset();
  for (const TimerId timer : {kEchoTimer, kSealTimer, kPullTimer}) {
    core_.turn.Do(CancelTimer{timer});
  }
  pull_.Disarm();
  return decision;
}

void Sealing::CheckInvariants() const {
  if (seal_ == nullptr) return;
  OSTRAKA_CHECK(entries_.has_value() && slot_.step == facts_.number());  // S1
  OSTRAKA_CHECK(slot_.draw == facts_.DrawOf(slot_.phase));
  entries_->CheckInvariants();
}

void Sealing::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, seal_, entries_, slot_, overdue_, transcript_, odd_);
}

}  // namespace ostraka::protocol
