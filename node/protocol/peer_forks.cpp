// When the run has split: proofs of both sides are gathered, shown to all, and nothing is signed
// any more (fork_watch.h; docs/protocol.md, 8).
#include <set>
#include <string>
#include <utility>

#include "node/protocol/peer_machine.h"
#include "node/protocol/standing.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

bool PeerMachine::WatchForFork(const wire::SignedEnvelope& message, const PeerId& from) {
  const wire::Envelope& envelope = message.envelope;
  // COMMIT, AGG and what seals them name the block that their sender's step began with.
  const bool parted =
      envelope.slot.phase == Phase::kA && IsOtherHistory(envelope.slot.step, envelope.entry);
  const bool rival = forks_.IsRival(envelope);
  if (!parted && !rival) return true;
  if (!ration_.TakeOddMessage(now_, from) || !Verified(message, from)) return false;
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
    const Standing* standing = StandingOf(view_->standings, member.id);
    const bool banned = standing != nullptr && standing->banned;
    if (banned || IsMember(view_->members, member.id) || followers_.contains(member.id)) continue;
    Ask(member.id, SlotOf(Phase::kC, MessageType::kPull), {.kind = wire::PullKind::kHead});
  }
}

void PeerMachine::AnswerProofs(const PeerId& from, std::uint64_t step) {
  for (const SharedBytes& frame : forks_.ProofsOf(step)) SendFrame(from, frame);
}

void PeerMachine::Freeze(const Fork& fork) {
  std::set<PeerId> culprits;
  for (const auto& [ours, theirs] : DoubleSignedIn(fork)) {
    const PeerId signer = wire::Open(ours)->envelope.sender;
    if (signer == self_ || !culprits.insert(signer).second) continue;
    StoreEvidence(evidence::MakeEquivocation(*ours, *theirs));
  }
  // Each side has to see the other's proof, and may be linked to nobody else who has it.
  for (const Member& member : manifest_->members) {
    if (member.id == self_) continue;
    for (const SharedBytes& frame : fork.ours) out_->Add(Send{member.id, frame, nullptr});
    for (const SharedBytes& frame : fork.theirs) out_->Add(Send{member.id, frame, nullptr});
  }
  const std::string reason =
      "the run has split: seal " + std::string(wire::PhaseName(fork.seal.phase)) + " of step " +
      std::to_string(fork.seal.step) +
      " was decided twice, so more members cheat, or were cut off, than the mode bears; " +
      std::to_string(culprits.size()) +
      " of them signed both (`ostraka evidence`); this node signs nothing more";
  out_->Add(Store{
      next_store_++,
      {{RecordKind::kFork, BlockKey(false, fork.seal.step), Bytes(reason.begin(), reason.end())}}});
  Halt(Halted::Why::kForked, reason);
}

}  // namespace ostraka::protocol
