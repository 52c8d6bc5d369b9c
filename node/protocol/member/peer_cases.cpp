// What this member does for cases and disputes: it shows and forwards parts, compares the numbers
// of others with them, names who lied to it, and votes.
#include <algorithm>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/member/peer_machine.h"
#include "node/protocol/sync/widening.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::CaseKind;
using wire::MessageType;
using wire::Phase;
using wire::Verdict;

// --- disputes -----------------------------------------------------------------------------------

std::size_t PeerMachine::DisputesOfWorker(const PeerId& worker) const {
  return static_cast<std::size_t>(
      std::count_if(chain_.head().disputes.begin(), chain_.head().disputes.end(),
                    [&](const Dispute& dispute) { return dispute.worker == worker; }));
}

// True iff the pair's part is here with its COMMIT, and its owner can take it in: no copy with a
// false header is a part held in time. Spoilt parts are the worker's fault, and looked at once.
bool PeerMachine::CanPassOn(const LivePair& pair) {
  if (round_->spoilt_parts.contains(pair.index)) return false;
  const Inbox::Item* commit =
      Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, pair.worker);
  const Inbox::Item* part =
      Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, pair.column}, pair.worker);
  if (commit == nullptr || part == nullptr) return false;
  if (!PartFault(*commit, *part, pair.column)) return true;
  round_->spoilt_parts.insert(pair.index);
  return false;
}

// What a disputed pair owes each other comes to all; whoever has it in time passes it on. Whether
// the own column is complete does not matter: others may lack what comes late.
void PeerMachine::ForwardDisputed() {
  Round& round = *round_;
  if (turn_.now() > round.forward_until) return;
  for (const LivePair& pair : round.pairs) {
    if (pair.worker == self_ || pair.aggregator == self_) continue;
    if (stage_ == Stage::kCollect && !round.forwarded_parts.contains(pair.index) &&
        CanPassOn(pair)) {
      const Inbox::Item* commit =
          Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, pair.worker);
      const Inbox::Item* part =
          Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, pair.column}, pair.worker);
      round.forwarded_parts.insert(pair.index);
      // With the COMMIT, without which no part counts: the worker may have kept it from its owner.
      turn_.Do(Send{pair.aggregator, commit->message->frame, nullptr});
      turn_.Do(Send{pair.aggregator, part->message->frame, part->blob});
    }
    if (stage_ == Stage::kProve && !round.forwarded_results.contains(pair.index) &&
        ResultWanted(pair.column) && round.results[pair.column] != nullptr) {
      round.forwarded_results.insert(pair.index);
      AnswerResult(pair.worker, CurrentStep(), pair.column);
    }
  }
}

// --- V1 -----------------------------------------------------------------------------------------

// What everyone stated of my column against the parts that I hold.
void PeerMachine::StartCrossCheck() {
  Round& round = *round_;
  duties_.ForgetCrossCheck();
  if (!round.my_part || round.results[*round.my_part] == nullptr) return;
  CrossCheckSpec spec;
  spec.column = ColumnOf(*round.my_part);
  spec.tau = round.reading.sealed.tau;
  for (const auto& [worker, held] : round.held) {
    const auto proof = round.reading.sealed.proofs.find(worker);
    if (proof == round.reading.sealed.proofs.end()) continue;
    if (proof->second.columns.size() != round.reading.sealed.roles.parts.size()) continue;
    const wire::ColumnNumbers& numbers = proof->second.columns[*round.my_part];
    if (!numbers.missing) spec.claims.push_back({worker, held.blob, numbers});
  }
  duties_.BeginCrossCheck(CurrentStep());
  StartJob({.purpose = Purpose::kCrossCheck, .step = CurrentStep()}, std::move(spec));
}

void PeerMachine::OnCrossChecked(const PendingJob& job, const CrossCheckResult& result) {
  if (!duties_.OnCrossChecked(job.step, result.liars)) return;
  for (const PeerId& liar : result.liars) {
    Suspect(liar, "V1",
            "its sealed numbers of step " + std::to_string(job.step) +
                " do not follow from the part that it sent me");
  }
}

// --- exhibits -----------------------------------------------------------------------------------

bool PeerMachine::PullExhibits() {
  const std::vector<Duties::Ask> asks = duties_.AskForExhibits();
  for (const Duties::Ask& one : asks) {
    wire::Slot slot = SlotOf(Phase::kA, MessageType::kPull);
    slot.step = one.step;
    for (const PeerId& whom : one.sources) {
      Ask(whom, slot,
          {.kind = wire::PullKind::kPart,
           .type = MessageType::kPart,
           .members = wire::BitmapOf({one.exhibit.author}, chain_.Past(one.step)->members),
           .digests = {},
           .index = one.exhibit.column});
    }
  }
  return !asks.empty();
}

void PeerMachine::OnExhibit(const wire::SignedEnvelope& message, const PeerId& from,
                            const SharedBlob& blob) {
  if (!InStep() || !duties_.IsExhibit(message.envelope, blob)) return;
  if (!Verified(message, from)) return;  // it is passed on as its author's
  const wire::Slot& slot = message.envelope.slot;
  chain_.KeepPart(slot.step, {slot.iteration, message.envelope.sender}, {message.frame, blob});
}

void PeerMachine::TryJudgeExhibits() {
  // What comes after my PROOF is judged in the next step: no job of a vote outlives its round.
  if (round_->proof_prepared) return;
  for (auto& [about, spec] : duties_.ExhibitsToJudge()) {
    ++round_->recomputations_pending;
    StartJob({.purpose = Purpose::kExhibit, .step = CurrentStep(), .about = about},
             std::move(spec));
  }
}

}  // namespace ostraka::protocol
