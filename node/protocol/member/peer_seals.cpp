// The seal in progress, fed from the inbox; and what is kept of decided ones, to help whoever is
// stuck in them and to see a fork.
#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

constexpr MessageType kSealTypes[] = {MessageType::kEcho,   MessageType::kClose,
                                      MessageType::kStatus, MessageType::kPropose,
                                      MessageType::kVote,   MessageType::kLock};

}  // namespace

std::size_t PeerMachine::EntryCount() const {
  return chain_.head().members.size() * (seal_slot_.phase == Phase::kA ? 2 : 1);
}

std::optional<std::pair<Inbox::Place, PeerId>> PeerMachine::PlaceOfEntry(std::size_t index) const {
  const std::vector<PeerId>& members = chain_.head().members;
  const PeerId& member = members[index % members.size()];
  if (round_->reading.absent.contains(member) || round_->reading.two_commits.contains(member))
    return std::nullopt;
  Inbox::Place place{CurrentStep(), seal_slot_.phase, MessageType::kCommit, seal_slot_.draw, 0};
  switch (seal_slot_.phase) {
    case Phase::kA:
      if (index < members.size()) break;
      // An AGG of a member that owns no part says nothing and is not sealed.
      if (!round_->reading.sealed.roles.PartOwnedBy(member)) return std::nullopt;
      place.type = MessageType::kAggregate;
      break;
    case Phase::kB:
      if (!round_->reading.MustReveal(member)) return std::nullopt;
      place.type = MessageType::kReveal;
      break;
    case Phase::kC:
      place.type = MessageType::kProof;
      break;
    case Phase::kGenesis:
      return std::nullopt;
  }
  return std::pair{place, member};
}

SealEntry PeerMachine::EntryNow(std::size_t index) const {
  const auto place = PlaceOfEntry(index);
  if (!place) return {};
  const Inbox::Item* any = inbox_.Find(place->first, place->second);
  if (any == nullptr) return {};
  // Two messages of one slot are equivocation whatever entries they name.
  if (any->equivocated()) return {SealEntry::State::kEquivocated, Digest{}};
  if (any->message->envelope.entry != EntryOf(place->first.phase)) return {};
  return {SealEntry::State::kPresent, any->message->digest};
}

bool PeerMachine::Holds(std::size_t index, const Digest& digest) const {
  const auto place = PlaceOfEntry(index);
  if (!place) return false;
  const wire::SignedEnvelope* message = inbox_.Find(place->first, place->second, digest);
  return message != nullptr && message->envelope.entry == EntryOf(place->first.phase);
}

void PeerMachine::OpenSeal(Phase phase, std::uint32_t draw, base::Duration deadline) {
  seal_slot_ = SlotOf(phase, MessageType::kEcho, draw);
  SealOptions options;
  options.slot = seal_slot_;
  options.entry = EntryOf(phase);
  options.self = self_;
  options.members = chain_.head().members;
  options.muted_members = round_->asleep;
  options.thresholds = chain_.head().thresholds;
  options.delta = chain_.delta();
  options.moment = moment();
  options.leader_seed = phase == Phase::kC ? round_->reading.randomness : chain_.head().randomness;
  options.entries = EntryCount();
  seal_ = std::make_unique<Seal>(std::move(options), this);
  overdue_ = false;
  pull_at_.reset();
  pull_attempts_ = 0;
  entries_settled_ = 0;
  inbox_.ForgetWants();
  odd_ballots_.clear();
  words_ = {};
  turn_.Do(CancelTimer{kPullTimer});
  turn_.Do(CancelTimer{kSealTimer});
  const TimerId seal_number = seal_slot_.step * 4 + static_cast<TimerId>(phase);
  const TimerId pile = base::Planted(base::Bug::kTimersPileUp) ? 8 * (seal_number + 1) : 0;
  turn_.Do(SetTimer{kEchoTimer + pile, turn_.now() + deadline});
  WatchEchoes(deadline);
  // What came early, or was said before a crash: own words first.
  std::vector<wire::SharedMessage> early;
  for (const MessageType type : kSealTypes) {
    Inbox::Place place{seal_slot_.step, phase, type, draw, 0};
    for (const auto& [sender, item] : inbox_.At(place)) {
      early.push_back(item.message);
      for (const wire::SharedMessage& rival : item.rivals) early.push_back(rival);
    }
  }
  std::stable_partition(early.begin(), early.end(), [this](const wire::SharedMessage& message) {
    return message->envelope.sender == self_;
  });
  for (const Journal::Sent& sent : journal_.sent()) {  // own slow path, restored
    auto opened = wire::Open(sent.frame);
    if (!opened.ok()) continue;
    const wire::Slot& slot = opened->envelope.slot;
    const bool of_this = slot.step == seal_slot_.step && slot.phase == phase && slot.draw == draw;
    if (of_this && slot.type >= MessageType::kStatus && slot.type <= MessageType::kLock) {
      FeedSeal(*opened);
    }
  }
  for (const wire::SharedMessage& message : early) FeedSeal(*message);
  SealOutput output;
  seal_->Opened(turn_.now(), output);
  Perform(std::move(output));
  if (PullExhibits()) ArmPull({chain_.delta().ns / 2});
}

// A wait ends early only by what the own ECHO shows, so that others can follow it: a member that
// signed two COMMITs is banned whether it goes on or not [seven that stopped after two COMMITs held
// all others up for 40 s, until the deadline of seal A]. No other evidence counts: it is local
// [one cheat of eight showed its fault to some members only, which echoed while the others waited;
// three of those were dropped for it].
bool PeerMachine::OwesNothing(std::size_t index, const PeerId& member) const {
  if (base::Planted(base::Bug::kEvidenceEndsWaits)) return charges_.Against(member);
  const std::size_t n = chain_.head().members.size();
  return seal_slot_.phase == Phase::kA && index >= n &&
         EntryNow(index - n).state == SealEntry::State::kEquivocated;
}

// Asked at each message: what is held stays held, so an entry that is settled is not looked at
// again before the next seal.
bool PeerMachine::EntriesComplete() {
  const std::size_t entries = EntryCount();
  for (; entries_settled_ < entries; ++entries_settled_) {
    const auto place = PlaceOfEntry(entries_settled_);
    if (!place || EntryNow(entries_settled_).state != SealEntry::State::kAbsent) continue;
    if (!OwesNothing(entries_settled_, place->second)) return false;
  }
  return true;
}

bool PeerMachine::DriveSeal(bool complete) {
  if (complete && !seal_->echoed()) {
    SealOutput output;
    seal_->Echo(turn_.now(), output);
    Perform(std::move(output));
  }
  return seal_->decision().has_value();
}

void PeerMachine::FeedSeal(const wire::SignedEnvelope& message) {
  // Another entry is another history, or a cheat: not this seal's. The signer chooses it, so the
  // slot counts too [a third ECHO for a slot of phase C, with the entry of seal A, counted there at
  // one honest member and at nobody else: it went on alone, and the run halted].
  if (message.envelope.entry != EntryOf(seal_slot_.phase)) return;
  if (SealKeyOf(message.envelope.slot) != SealKeyOf(seal_slot_)) return;
  words_.Add(message);
  SealOutput output;
  seal_->OnMessage(turn_.now(), message, output);
  Perform(std::move(output));
  if (message.envelope.slot.type != MessageType::kEcho) return;
  NoteEcho(message);
  if (message.envelope.sender != self_) ArmPull(moment());
}

void PeerMachine::Perform(SealOutput output) {
  const std::uint32_t draw = seal_slot_.draw;
  std::vector<Draft> drafts;
  for (SealSay& say : output.say) {
    drafts.push_back(MakeDraft(SlotOf(seal_slot_.phase, say.type, draw, say.iteration),
                               std::move(say.body), chain_.head().members));
    if (say.type == MessageType::kEcho) ArmPull({chain_.delta().ns / 2});
    if (say.type == MessageType::kStatus) {
      if (say.iteration > 1) {
        AskHeads();
        charges_.StoreVerdicts();
      }
      inbox_.ForgetSlowPath(say.iteration < 2 ? 0 : say.iteration - 1);
      reports_.OnSilent(seal_->silent());
      turn_.Do(Observe{SlowSeal{CurrentStep(), static_cast<std::uint8_t>(seal_slot_.phase),
                                say.iteration, seal_->Describe(turn_.now())}});
    }
  }
  if (!drafts.empty()) Prepare(std::move(drafts));
  if (output.unhelped) {
    AskHeads();
    // While the gate stays shut there is no iteration in which to say for whom the seal waits.
    if (seal_->iteration() == 0 && seal_->Certificate().empty()) {
      turn_.Do(Observe{SlowSeal{CurrentStep(), static_cast<std::uint8_t>(seal_slot_.phase), 0,
                                seal_->Describe(turn_.now())}});
    }
    charges_.StoreVerdicts();
  }
  for (const SharedBytes& frame : output.forward) {
    for (const PeerId& member : chain_.head().members) {
      if (member != self_) turn_.Do(Send{member, frame, nullptr});
    }
  }
  wire::Slot slot = seal_slot_;
  slot.type = MessageType::kVector;
  for (const auto& [to, vector] : output.answer_vector) {
    if (to != self_) SendService(to, slot, wire::Encode(vector));
  }
  for (const SealAsk& ask : output.ask) {
    if (ask.pull.kind == wire::PullKind::kDigests) {
      for (const Digest& digest : ask.pull.digests) inbox_.Want(digest);
    }
    reports_.OnAsked(ask.to, turn_.now());
    Ask(ask.to, seal_slot_, ask.pull);
  }
  if (seal_->gate_passed()) reports_.OnGate(turn_.now());
  if (const auto wake = seal_->wake()) turn_.Do(SetTimer{kSealTimer, std::max(*wake, turn_.now())});
}

Digest PeerMachine::CloseSeal() {
  const SealVector& vector = *seal_->decision();
  const Digest decision =
      DecisionDigest(seal_slot_, EchoOf(vector).vector, EntryOf(seal_slot_.phase));
  const bool slow = seal_->iteration() > 0;
  turn_.Do(Observe{protocol::Sealed{CurrentStep(), static_cast<std::uint8_t>(seal_slot_.phase),
                                    decision, seal_slot_.draw, seal_->iteration()}});
  if (!slow) reports_.NoteLags(seal_->lags(), chain_.head().thresholds.quorum(), chain_.delta());
  past_seals_[SealKeyOf(seal_slot_)] = {vector, seal_->Certificate()};
  Decision decided{EntryOf(seal_slot_.phase),
                   EchoOf(vector).vector,
                   {},
                   chain_.head().thresholds.quorum(),
                   seal_->Certificate()};
  for (const PeerId& member : chain_.head().members) {
    if (!round_->asleep.contains(member)) decided.awake.insert(member);
  }
  if (words_.slow()) decided.words = std::move(words_);
  forks_.Remember(SealKeyOf(seal_slot_), std::move(decided));
  inbox_.ForgetSlowPath();
  seal_.reset();
  for (const TimerId timer : {kEchoTimer, kSealTimer, kPullTimer}) {
    turn_.Do(CancelTimer{timer});
  }
  pull_at_.reset();
  return decision;
}

// Whoever speaks in a seal that is decided is stuck in it: the certificate helps it on.
void PeerMachine::OnPastSealMessage(const SealKey& key, const wire::SignedEnvelope& message,
                                    const PeerId& from) {
  const PastSeal& past = past_seals_.at(key);
  const wire::Envelope& envelope = message.envelope;
  if (envelope.sender != from || from == self_) return;
  const bool newly_stuck = envelope.slot.type == MessageType::kEcho ||
                           envelope.slot.type == MessageType::kClose ||
                           envelope.slot.type == MessageType::kStatus;
  if (!newly_stuck || !ration_.Take(turn_.now(), from)) return;
  // Its echo, in time for the decision, came here before it: that is no cry for help.
  if (envelope.slot.type == MessageType::kEcho) {
    const auto mine =
        std::find_if(past.certificate.begin(), past.certificate.end(),
                     [&](const SharedBytes& frame) { return *frame == *message.frame; });
    if (mine != past.certificate.end()) return;
  }
  for (const SharedBytes& frame : past.certificate) SendFrame(from, frame);
}

}  // namespace ostraka::protocol
