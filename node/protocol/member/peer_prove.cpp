// Phase C: results arrive, every worker proves its numbers, every member gives its verdicts, seal
// C.
#include <algorithm>
#include <utility>

#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void PeerMachine::BeginProve() {
  Enter(Stage::kProve);
  OpenSeal(Phase::kC, 0, manifest_->part_timeout * 2 + chain_.delta() * 2);
  WatchSealC();
  round_->times.agree_ns += (turn_.now() - mark_).ns;
  mark_ = turn_.now();
  round_->forward_until = turn_.now() + manifest_->part_timeout;  // as in phase A
  turn_.Do(SetTimer{kBulkTimer, round_->forward_until + chain_.delta() * 2});
  pull_attempts_ = 0;
  ArmPull({chain_.delta().ns / 2});
}

Column PeerMachine::ColumnOf(std::size_t index) const {
  const auto part_index = static_cast<std::uint32_t>(index);
  return {.part_index = part_index,
          .range = round_->reading.sealed.roles.parts[index],
          .result = round_->results[index],
          .direction_seed = DirectionSeed(round_->reading.randomness, CurrentStep(), part_index)};
}

bool PeerMachine::ResultWanted(std::size_t column) const {
  return round_->reading.sealed.GivesResult(column);
}

// Takes results that have come for sealed aggregates. `results_closed` once none is missing.
void PeerMachine::JudgeResults() {
  bool all = true;
  for (std::uint32_t j = 0; j < round_->results.size(); ++j) {
    if (!ResultWanted(j) || round_->results[j] != nullptr) continue;
    const PeerId& owner = round_->reading.sealed.roles.owners[j];
    const Inbox::Item* item = Usable({CurrentStep(), Phase::kA, MessageType::kResult, 0, j}, owner);
    if (item != nullptr && TakeResult(j, item->blob)) continue;
    const SharedBlob kept = chain_.ResultAt(CurrentStep(), j);
    if (kept != nullptr && TakeResult(j, kept)) continue;
    all = false;
  }
  if (all) round_->results_closed = true;
}

// From whomever it comes: the sealed AGG names its root.
bool PeerMachine::TakeResult(std::size_t column, const SharedBlob& blob) {
  if (column >= round_->results.size() || !ResultWanted(column)) return false;
  if (blob->root != round_->reading.sealed.aggregates[column]->result_root) return false;
  if (!HoldsFiniteFloats(*blob, round_->reading.sealed.roles.parts[column].size())) return false;
  if (round_->results[column] != nullptr) return true;
  round_->results[column] = blob;
  KeepResult(CurrentStep(), static_cast<std::uint32_t>(column), blob);
  return true;
}

// It is durable before anything that is said from now on: when a PROOF helps to seal the step, its
// author can still apply it, and serve it, after a crash of all.
void PeerMachine::KeepResult(std::uint64_t step, std::uint32_t column, const SharedBlob& blob) {
  if (chain_.KeepResult(step, column, blob)) journal_.StoreResult(step, column, blob);
}

void PeerMachine::TryProve() {
  Round& round = *round_;
  if (round.prove_started || round.parts_lost || !round.results_closed) return;
  const bool worker = round.reading.sealed.roles.IsWorker(self_);
  // After a restart the seals of the step may be there before the own gradient is.
  if (worker && round.parts.empty()) return;
  round.prove_started = true;
  if (!worker) {  // nothing to prove
    round.numbers.emplace();
    return;
  }
  ProveSpec spec;
  spec.parts = round.parts;
  for (std::size_t j = 0; j < round.results.size(); ++j) spec.columns.push_back(ColumnOf(j));
  spec.tau = round.reading.sealed.tau;
  StartJob({.purpose = Purpose::kProve, .step = CurrentStep()}, std::move(spec));
}

// PROOF + VERDICT, once all that it states is known.
void PeerMachine::TryPrepareProof() {
  Round& round = *round_;
  if (round.proof_prepared || !round.numbers || round.recomputations_pending > 0 ||
      round.root_pending || duties_.AwaitsCrossCheck()) {
    return;
  }
  // Exhibits may take as long as other bulk data.
  if (duties_.AwaitsExhibits() && !round.bulk_expired) return;
  round.proof_prepared = true;
  wire::Proof proof;
  proof.columns = *round.numbers;
  proof.accusation = round.accusation;
  duties_.StateIn(proof);
  proof.state_root = round.my_state_root;
  if (!base::Planted(base::Bug::kGuiltKeptSecret)) proof.evidence = charges_.ForProof();
  proof.held = HeldBitmap(chain_.head(), round.forwarded_parts, round.forwarded_results);
  proof.joins =
      followers_.JoinsToConfirm(chain_.head(), *manifest_, CurrentStep(), chain_.recent());
  reports_.StateIn(proof, chain_.head().members,
                   chain_.head().delta_us / 4);  // no lag measured: as things are
  round.times.aggregate_ns += (turn_.now() - mark_).ns;
  mark_ = turn_.now();
  Prepare({MakeDraft(SlotOf(Phase::kC, MessageType::kProof), wire::Encode(proof),
                     chain_.head().members)});
}

bool PeerMachine::TrySealC() {
  JudgeResults();
  ForwardDisputed();
  TryProve();
  TryJudgeExhibits();
  TryPrepareProof();
  UpdateLateWatch();
  if (!DriveSeal(EntriesComplete())) return false;
  TakeSealC(*seal_->decision());
  return true;
}

void PeerMachine::TakeSealC(const SealVector& decided) {
  const SealVector vector = decided;
  TakeWatches(vector);
  decided_c_ = turn_.now();
  Round& round = *round_;
  round.reading.ReadSealC(chain_.head(), MessagesOf(vector));
  KeepUnreadable();
  round.decision_c = CloseSeal();
  pull_attempts_ = 0;  // for results, from here on
  PutAbsentToSleep();
  if (round.asleep.contains(self_)) return Leave("this node's PROOF came too late");
  charges_.ProveImpossibleNumbers(round.reading.sealed, chain_.head(), round.reading.proofs);
  round.reading.ReadEvidence(*manifest_, *verifier_);
  round.fates = JudgeWithoutAggregates(round.reading.sealed, chain_.head());
  round.times.agree_ns += (turn_.now() - mark_).ns;
  mark_ = turn_.now();
  Enter(Stage::kSettle);
  ArmPull(moment());  // for results that the block needs
}

}  // namespace ostraka::protocol
