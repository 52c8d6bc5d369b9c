// Phase C: results arrive, every worker proves its numbers, every member gives its verdicts, seal
// C.
#include <algorithm>
#include <utility>

#include "node/protocol/numbers.h"
#include "node/protocol/peer_machine.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

void PeerMachine::BeginProve() {
  stage_ = Stage::kProve;
  BeginPhase();
  round_->times.agree_ns += (now_ - mark_).ns;
  mark_ = now_;
  out_->Add(SetTimer{kBulkTimer, now_ + manifest_->part_timeout});
}

Column PeerMachine::ColumnOf(std::size_t index) const {
  const auto part_index = static_cast<std::uint32_t>(index);
  return {.part_index = part_index,
          .range = round_->sealed.roles.parts[index],
          .result = round_->results[index],
          .direction_seed = DirectionSeed(round_->randomness, CurrentStep(), part_index)};
}

bool PeerMachine::ResultWanted(std::size_t column) const {
  return round_->sealed.aggregates[column].has_value();
}

// Takes results that have come for sealed aggregates. `results_closed` once none is missing.
void PeerMachine::JudgeResults() {
  bool all = true;
  for (std::size_t j = 0; j < round_->results.size(); ++j) {
    if (!ResultWanted(j) || round_->results[j] != nullptr) continue;
    const PeerId& owner = round_->sealed.roles.owners[j];
    const Inbox::Item* item = Usable({CurrentStep(), Phase::kA, MessageType::kResult, 0}, owner);
    if (item != nullptr && ResultIsGood(j, *item)) {
      round_->results[j] = item->blob;
    } else {
      all = false;
    }
  }
  if (all) round_->results_closed = true;
}

bool PeerMachine::ResultIsGood(std::size_t column, const Inbox::Item& item) const {
  const wire::Aggregate& aggregate = *round_->sealed.aggregates[column];
  return item.message.envelope.slot.iteration == column &&
         item.blob->root == aggregate.result_root &&
         HoldsFiniteFloats(*item.blob, round_->sealed.roles.parts[column].size());
}

void PeerMachine::TryProve() {
  Round& round = *round_;
  if (round.prove_started || !round.results_closed) return;
  round.prove_started = true;
  if (round.parts.empty()) {  // no worker: nothing to prove
    round.numbers.emplace();
    return;
  }
  ProveSpec spec;
  spec.parts = round.parts;
  for (std::size_t j = 0; j < round.results.size(); ++j) spec.columns.push_back(ColumnOf(j));
  spec.tau = round.sealed.tau;
  StartJob({.purpose = Purpose::kProve, .step = CurrentStep(), .accuser = {}, .target = {}},
           std::move(spec));
}

void PeerMachine::OnRecomputed(const PendingJob& job, const RecomputeResult& result) {
  --round_->recomputations_pending;
  if (job.purpose == Purpose::kVote) {
    my_verdicts_[{job.accuser, job.target, job.step}] =
        result.convict ? wire::Verdict::kGuilty : wire::Verdict::kInnocent;
  } else if (result.accuse) {
    round_->accusation = wire::Accusation{job.target, job.step};
  }
}

// PROOF + VERDICT, once all that it states is known.
void PeerMachine::TryPrepareProof() {
  Round& round = *round_;
  if (round.proof_prepared || !round.numbers || round.recomputations_pending > 0 ||
      round.root_pending) {
    return;
  }
  round.proof_prepared = true;
  wire::Proof proof;
  proof.columns = *round.numbers;
  proof.accusation = round.accusation;
  for (const Case& open : view_->cases) {
    const auto verdict = my_verdicts_.find({open.accuser, open.target, open.accused_step});
    if (verdict == my_verdicts_.end() || !verdict->second) continue;
    proof.votes.push_back({open.accuser, open.target, open.accused_step, *verdict->second});
  }
  proof.state_root = round.my_state_root;
  for (const auto& [accused, file] : evidence_) {
    if (proof.evidence.size() < wire::kMaxInlineEvidence) proof.evidence.push_back(file);
  }
  round.times.aggregate_ns += (now_ - mark_).ns;
  mark_ = now_;
  Prepare({MakeDraft(SlotOf(Phase::kC, MessageType::kProof), wire::Encode(proof), view_->members)});
}

bool PeerMachine::TrySealC() {
  JudgeResults();
  TryProve();
  TryPrepareProof();
  std::optional<SealVector> vector = SealVector{};
  for (const PeerId& member : view_->members) {
    const SealEntry entry = EntryFor({CurrentStep(), Phase::kC, MessageType::kProof, 0}, member);
    if (entry.state == SealEntry::State::kAbsent) {
      vector.reset();
      break;
    }
    vector->push_back(entry);
  }
  if (!DriveSeal(Phase::kC, 0, vector)) return false;
  TakeSealC();
  return true;
}

void PeerMachine::TakeSealC() {
  Round& round = *round_;
  const SealVector vector = *own_vector_;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const PeerId& member = view_->members[i];
    if (vector[i].state != SealEntry::State::kPresent) {
      round.faults.emplace(member, "signed two different PROOFs of one slot");
      continue;
    }
    const Inbox::Item& item = *Usable({CurrentStep(), Phase::kC, MessageType::kProof, 0}, member);
    auto body = wire::DecodeProof(item.message.envelope.body);
    const bool worker = round.sealed.roles.IsWorker(member);
    const std::size_t columns = worker ? round.sealed.roles.parts.size() : 0;
    if (body.ok() && body->columns.size() == columns) {
      round.sealed.proofs.emplace(member, std::move(body).value());
    } else {
      // Else a worker could void every column for ever: without numbers it is nobody's target.
      round.faults.emplace(member, "its PROOF is malformed");
    }
  }
  round.decision_c =
      DecisionDigest(SlotOf(Phase::kC, MessageType::kEcho), EchoOf(vector).vector, round.entry_c);
  out_->Add(Observe{Sealed{CurrentStep(), static_cast<std::uint8_t>(Phase::kC), round.decision_c}});
  FindImpossibleNumbers(round.sealed, round.faults);
  JudgeInlineEvidence();
  round.fates = JudgeBeforeSums(round.sealed, *view_, *manifest_);
  round.times.agree_ns += (now_ - mark_).ns;
  mark_ = now_;
  stage_ = Stage::kSettle;
  BeginPhase();  // the timer now waits for results
}

}  // namespace ostraka::protocol
