// When the run has split: proofs of both sides are gathered and shown to all, those who spoke on
// both sides are named, and nothing is signed any more (fork_watch.h, fork_trial.h;
// docs/protocol.md, 8).
#include <string>
#include <utility>

#include "node/protocol/member/peer_machine.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

// After a fork is found, for what the other side holds. No rule rests on it: who is too late is
// named by fewer.
constexpr base::Duration kTrialLasts = base::Seconds(5);

}  // namespace

bool PeerMachine::WatchForFork(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  // COMMIT, AGG and what seals them name the block that their sender's step began with.
  const bool parted =
      envelope.slot.phase == Phase::kA && IsOtherHistory(envelope.slot.step, envelope.entry);
  const bool rival = forks_.IsRival(envelope);
  if (!parted && !rival) return true;
  if (!ration_.TakeOddMessage(turn_.now(), from) || !Verified(message, from)) return false;
  if (parted) TraceHistory(from, envelope.slot.step);
  if (!rival) return true;
  const auto fork = forks_.Note(message);
  if (fork) Freeze(*fork);
  return !fork;
}

// A step of which we know with what block it began, and it was not `entry`.
bool PeerMachine::IsOtherHistory(std::uint64_t step, const Digest& entry) const {
  if (step == 0) return false;
  if (InStep() && step == CurrentStep()) return entry != round_->entry_a;
  const Digest* own = forks_.EntryOf({step, Phase::kA, 0});
  return own != nullptr && *own != entry;
}

// `from` has, or passes on, a word of `step` that began with another block: what made that block?
void PeerMachine::TraceHistory(const PeerId& from, std::uint64_t step) {
  if (!forks_.MayAsk(from, step - 1)) return;
  wire::Slot slot = SlotOf(Phase::kC, MessageType::kPull);
  slot.step = step - 1;
  Ask(from, slot, {.kind = wire::PullKind::kProofs});
}

// Who was dropped may be on the other side of a split, where we were; neither sends the other
// anything of its own accord. Who follows us is not.
void PeerMachine::AskHeadsOfDropped() {
  for (const Member& member : manifest_->members) {
    const Standing* standing = StandingOf(chain_.head().standings, member.id);
    const bool banned = standing != nullptr && standing->banned;
    if (banned || IsMember(chain_.head().members, member.id) || followers_.Contains(member.id))
      continue;
    Ask(member.id, SlotOf(Phase::kC, MessageType::kPull), {.kind = wire::PullKind::kHead});
  }
}

void PeerMachine::AnswerProofs(const PeerId& from, std::uint64_t step) {
  const bool of_fork = trial_ && trial_->seal().step == step;
  for (const SharedBytes& frame : of_fork ? trial_->Frames() : forks_.ProofsOf(step)) {
    SendFrame(from, frame);
  }
}

// From here on nothing is signed. For kTrialLasts words of the split seal are gathered, and shown
// to all: each side holds what the other needs to name those who spoke on both.
void PeerMachine::Freeze(const Fork& fork) {
  trial_.emplace(fork, self_);
  Enter(Stage::kFrozen);
  ++era_;
  seal_.reset();
  for (const TimerId timer : {kEchoTimer, kBulkTimer, kSealTimer, kPullTimer}) {
    turn_.Do(CancelTimer{timer});
  }
  turn_.Do(SetTimer{kFollowTimer, turn_.now() + kTrialLasts});
  for (const auto& [peer, culprit] : trial_->culprits()) charges_.Keep(culprit.file);
  StoreForkLine(false);
  for (const Member& member : manifest_->members) {
    if (member.id != self_) ShowFork(member.id);
  }
}

// Each side has to see the other's proof, and may be linked to nobody else who has it.
void PeerMachine::ShowFork(const PeerId& to) {
  for (const SharedBytes& frame : trial_->Frames()) turn_.Do(Send{to, frame, nullptr});
  wire::Slot slot = SlotOf(Phase::kC, MessageType::kPull);
  slot.step = trial_->seal().step;
  Ask(to, slot, {.kind = wire::PullKind::kProofs});
}

void PeerMachine::HearOfFork(const wire::SignedEnvelope& message, const PeerId& from) {
  if (!trial_->IsNews(message)) return;
  if (!ration_.TakeOddMessage(turn_.now(), from) || !Verified(message, from)) return;
  const Culprit* culprit = trial_->Hear(message);
  if (culprit != nullptr) charges_.Keep(culprit->file);
}

// Twice: a crash in between must leave it frozen, and the last line says who is named.
void PeerMachine::StoreForkLine(bool last) {
  journal_.StoreForkLine(trial_->seal().step, trial_->Line(), last);
}

void PeerMachine::EndTrial() {
  StoreForkLine(true);
  Halt(Halted::Why::kForked, trial_->Line());
}

}  // namespace ostraka::protocol
