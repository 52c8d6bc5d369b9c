#include "sim/check/order_checkers.h"

#include <algorithm>
#include <string>

#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::sim {
namespace {

constexpr std::uint64_t kProvenSteps = 8;
// Blocks from the step in which evidence is made: it may miss that step's PROOF, and the next PROOF
// carries it.
constexpr std::uint64_t kSpreadsWithin = 2;

}  // namespace

// --- PhaseOrder ---------------------------------------------------------------------------------

base::Status PhaseOrder::OnAction(std::uint32_t index, const protocol::Action& action) {
  Peer& peer = peers_[index];
  if (const auto* sealed = Observed<protocol::Sealed>(action)) {
    const auto phase = static_cast<wire::Phase>(sealed->phase);
    if (phase == wire::Phase::kA) peer.sealed_a = std::max(peer.sealed_a, sealed->step + 1);
    if (phase == wire::Phase::kB) peer.sealed_b = std::max(peer.sealed_b, sealed->step + 1);
  } else if (const auto* done = Observed<protocol::StepDone>(action)) {
    peer.height = std::max(peer.height, HeightOf(*done->block));
  } else if (const auto* resumed = Observed<protocol::Resumed>(action)) {
    peer.height = std::max(peer.height, HeightOf(*resumed->block));
  }
  const auto said = speech_.Hear(index, action);
  if (!said.ok() || *said == nullptr) return base::OkStatus();
  const wire::Slot& slot = (*said)->envelope.slot;
  const char* missing = nullptr;
  if (slot.type == wire::MessageType::kCommit && slot.step > peer.height) missing = "block before";
  if (slot.type == wire::MessageType::kReveal && slot.step >= peer.sealed_a) missing = "seal A";
  if (slot.type == wire::MessageType::kProof && slot.step >= peer.sealed_b) missing = "seal B";
  if (missing == nullptr) return base::OkStatus();
  return base::FailedPrecondition(
      Named(roster_, index) + " signed its " + wire::MessageTypeName(slot.type) + " of step " +
      std::to_string(slot.step) + " before its " + missing + " was decided");
}

// --- DrawOrder ----------------------------------------------------------------------------------

base::Status DrawOrder::OnAction(std::uint32_t peer, const protocol::Action& action) {
  const auto* done = Observed<protocol::StepDone>(action);
  if (!done || done->block->genesis) return base::OkStatus();
  const wire::Block& block = *done->block;
  // A member that catches up accepts this block long after the first did; `agreement` checks that
  // they are equal.
  if (!proven_.empty() && block.step <= proven_.rbegin()->first) return base::OkStatus();
  proven_.emplace(block.step, block.proven);
  while (proven_.size() > kProvenSteps) proven_.erase(proven_.begin());
  for (const wire::Assignment& drawn : block.drawn) {
    const auto proven = proven_.find(drawn.step);
    const bool sealed =
        drawn.step < block.step && proven != proven_.end() &&
        std::binary_search(proven->second.begin(), proven->second.end(), drawn.target);
    if (sealed) continue;
    return base::FailedPrecondition(
        Named(roster_, peer) + " accepted a draw of step " + std::to_string(block.step) +
        " that has " + drawn.target.Short() + " judged for step " + std::to_string(drawn.step) +
        ", whose PROOF no block before had sealed");
  }
  return base::OkStatus();
}

// --- GuiltSpreads -------------------------------------------------------------------------------

base::Status GuiltSpreads::OnAction(std::uint32_t peer, const protocol::Action& action) {
  if (const auto* started = Observed<protocol::StepStarted>(action)) steps_[peer] = started->step;
  if (Observed<protocol::Away>(action) || Observed<protocol::Halted>(action)) steps_[peer].reset();
  if (const auto* store = std::get_if<protocol::Store>(&action)) Hear(peer, *store);
  const auto* done = Observed<protocol::StepDone>(action);
  return done ? OnBlock(*done->block) : base::OkStatus();
}

void GuiltSpreads::Hear(std::uint32_t peer, const protocol::Store& store) {
  if (!steps_[peer] || roster_.IsUnlucky(peer)) return;
  for (const protocol::Record& record : store.records) {
    if (record.kind != protocol::RecordKind::kEvidence) continue;
    if (record.value.size() > wire::kMaxEvidenceBytes) continue;  // too long to be sent
    const evidence::Finding finding = evidence::Verify(record.value);
    const bool transferable = finding.outcome == evidence::Outcome::kProven &&
                              finding.kind != evidence::EvidenceKind::kSealedBan;
    if (transferable) guilty_.try_emplace(finding.accused, Guilt{peer, *steps_[peer]});
  }
}

base::Status GuiltSpreads::OnBlock(const wire::Block& block) const {
  for (const auto& [accused, guilt] : guilty_) {
    if (block.step < guilt.step + kSpreadsWithin) continue;
    const bool banned = std::any_of(
        block.standings.begin(), block.standings.end(),
        [&who = accused](const wire::Standing& s) { return s.peer == who && s.banned; });
    if (banned) continue;
    return base::FailedPrecondition(Named(roster_, guilt.witness) + " had evidence against " +
                                    accused.Short() + " in step " + std::to_string(guilt.step) +
                                    ", and step " + std::to_string(block.step) +
                                    " does not know of it");
  }
  return base::OkStatus();
}

}  // namespace ostraka::sim
