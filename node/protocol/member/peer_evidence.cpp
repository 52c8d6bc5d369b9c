// Evidence that this member makes of what it sees (proofs/evidence): stored at once, put into every
// PROOF until its subject is banned. What all see in a seal needs no word of ours and is stored
// only, for strangers.
#include <utility>

#include "node/protocol/ground/known_run.h"
#include "node/protocol/member/peer_machine.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

namespace {

constexpr std::uint32_t kLockReach = 4;  // iterations between a LOCK and the VOTE against it

}  // namespace

// Not every fault has a file: what a bad message is bad against may be the word of others. Then
// `made` says so, and the block that bans is the proof (ProveBans).
void PeerMachine::StoreEvidence(const base::StatusOr<Bytes>& made) {
  if (!made.ok()) return;
  journal_.StoreEvidence(*made);
}

// Two large PROOFs of one slot make a file that no frame may carry. It stays in our store (seal C
// shows that fault itself, if in time), and must not shield its maker from a shorter one.
void PeerMachine::KeepEvidence(const PeerId& accused, base::StatusOr<Bytes> made) {
  // Our key may speak elsewhere, and what it says there can be bad: that is for others to find.
  if (accused == self_ || !made.ok() || evidence_.contains(accused)) return;
  StoreEvidence(made);
  if (made->size() <= wire::kMaxEvidenceBytes) evidence_.emplace(accused, *std::move(made));
}

// A VOTE that passes over a LOCK of its sender in an iteration before; whichever came first.
void PeerMachine::FindBrokenLock(const wire::SignedEnvelope& message) {
  const wire::Slot& slot = message.envelope.slot;
  const PeerId& sender = message.envelope.sender;
  const bool is_vote = slot.type == MessageType::kVote;
  if ((!is_vote && slot.type != MessageType::kLock) || sender == self_) return;
  Inbox::Place other = Inbox::PlaceOf(slot);
  other.type = is_vote ? MessageType::kLock : MessageType::kVote;
  // The inbox holds no more than a few iterations back or ahead.
  for (std::uint32_t apart = 1; apart <= kLockReach; ++apart) {
    if (is_vote && slot.iteration <= apart) return;
    other.iteration = is_vote ? slot.iteration - apart : slot.iteration + apart;
    const Inbox::Item* held = inbox_.Find(other, sender);
    if (held == nullptr) continue;
    const SharedBytes& lock = is_vote ? held->message->frame : message.frame;
    const SharedBytes& vote = is_vote ? message.frame : held->message->frame;
    auto made = evidence::MakeBrokenLock(*lock, *vote);
    if (!made.ok()) continue;
    KeepEvidence(sender, std::move(made));
    return Suspect(sender, "lock", "voted against an earlier lock of its own");
  }
}

void PeerMachine::ProveFalseReveal(const PeerId& member, const SealEntry& reveal) {
  const auto* commit = inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member,
                                   round_->sealed.commit_digests.at(member));
  if (commit == nullptr) return;
  const auto& shown = SealedMessage(
      {CurrentStep(), Phase::kB, MessageType::kReveal, round_->draw, 0}, member, reveal);
  StoreEvidence(evidence::MakeFalseReveal(*commit->frame, *shown.frame));
}

void PeerMachine::ProveImpossibleNumbers(const SealVector& proofs) {
  SealedFaults impossible;
  FindImpossibleWords(round_->sealed, *view_, impossible);
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    const PeerId& member = view_->members[i];
    if (!impossible.contains(member) || !round_->sealed.proofs.contains(member)) continue;
    const auto& message =
        SealedMessage({CurrentStep(), Phase::kC, MessageType::kProof, 0, 0}, member, proofs[i]);
    StoreEvidence(evidence::MakeImpossibleNumbers(*message.frame));
  }
}

// Members that seal A has shown to build on this view, against whom it bans. More members of the
// genesis than can be at fault convince whoever trusts the manifest; where these are not left the
// votes do, if so many voted.
void PeerMachine::ProveBans() {
  std::vector<SharedBytes> frames;
  for (const auto& [member, digest] : round_->sealed.commit_digests) {
    const auto* message =
        inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, member, digest);
    if (message != nullptr) frames.push_back(message->frame);
  }
  const evidence::KnownRun run = KnownRunOf(*manifest_);
  for (const wire::Removal& removal : view_->removals) {
    if (!wire::IsBan(removal.kind)) continue;
    const auto made = evidence::MakeSealedBan(removal.peer, *view_, frames, run);
    StoreEvidence(made);
    if (made.ok()) verdicts_.erase(removal.peer);
  }
  StoreVerdicts();
}

// What was sealed before `block`: those of its bans that are verdicts, as far as votes prove them.
void PeerMachine::KeepVotes(const Block& block) {
  for (const auto& [member, body] : round_->sealed.proofs) {
    votes_.Note(member, round_->proofs.at(member), body, view_->cases);
  }
  StoreVerdicts();
  const evidence::KnownRun run = KnownRunOf(*manifest_);
  for (const wire::Removal& removal : block.removals) {
    if (removal.kind != wire::RemovalKind::kVerdict) continue;
    auto made = votes_.ProofAgainst(removal.peer, run);
    if (made.ok()) verdicts_.emplace(removal.peer, *std::move(made));
  }
  votes_.ForgetAllBut(block.cases);
}

// No sealed_ban will come, or nobody knows whether one will.
void PeerMachine::StoreVerdicts() {
  for (auto& [accused, file] : verdicts_) StoreEvidence(std::move(file));
  verdicts_.clear();
}

}  // namespace ostraka::protocol
