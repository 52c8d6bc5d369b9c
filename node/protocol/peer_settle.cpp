// After seal C: the block, the update of the replicated state, and the next step.
#include <algorithm>
#include <utility>

#include "aggregation/projection.h"
#include "node/base/check.h"
#include "node/protocol/numbers.h"
#include "node/protocol/peer_machine.h"
#include "node/protocol/schedule.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

// Evidence is judged by what its bytes prove, so all peers find the same.
void PeerMachine::JudgeInlineEvidence() {
  for (const auto& [member, proof] : round_->sealed.proofs) {
    for (const Bytes& file : proof.evidence) {
      const evidence::Finding finding = evidence::Verify(file, *verifier_);
      if (finding.outcome != evidence::Outcome::kProven) continue;
      if (finding.slot.run_id != manifest_->run_id) continue;
      if (!IsMember(view_->members, finding.accused)) continue;
      round_->faults.emplace(finding.accused, finding.reason);
    }
  }
}

bool PeerMachine::TrySettle() {
  Round& round = *round_;
  JudgeResults();
  std::vector<double> norms(round.fates.size(), 0.0);
  for (std::size_t j = 0; j < round.fates.size(); ++j) {
    if (round.fates[j] != ColumnFate::kApplied) continue;
    if (round.results[j] == nullptr) return false;  // its owner owes it to us
    norms[j] = aggregation::Norm(AsFloats(*round.results[j]));
  }
  JudgeSums(round.sealed, *view_, *manifest_, norms, round.fates);

  Judged judged;
  judged.decision = round.decision_c;
  judged.randomness = round.randomness;
  judged.fates = round.fates;
  judged.faults = round.faults;
  auto block = std::make_shared<const Block>(JudgeStep(round.sealed, *view_, *manifest_, judged));
  out_->Add(Store{next_store_++,
                  {{RecordKind::kBlock, BlockKey(false, block->step), wire::EncodeBlock(*block)}}});
  StartCrossCheck();
  TakeBlock(std::move(block));
  return true;
}

void PeerMachine::TakeBlock(std::shared_ptr<const Block> block) {
  for (const wire::Removal& removal : block->removals) {
    last_removal_step_ = block->step;
    inbox_.ForgetSender(removal.peer);
    evidence_.erase(removal.peer);
    if (removal.peer == self_) {
      return Halt(Halted::Why::kBanned,
                  "banned in step " + std::to_string(block->step) + ": " + removal.reason);
    }
  }
  if (block->state_root && *block->state_root != round_->my_state_root) {
    return Halt(
        Halted::Why::kDiverged,
        "step " + std::to_string(block->step) +
            ": my state is not the sealed one; catching up is not built yet, so start over");
  }
  RememberStep();
  std::erase_if(my_verdicts_, [&](const auto& entry) {
    return std::none_of(block->cases.begin(), block->cases.end(), [&](const Case& open) {
      return entry.first == CaseKey{open.accuser, open.target, open.accused_step};
    });
  });
  workers_proven_.clear();
  for (const PeerId& worker : round_->sealed.roles.workers) {
    if (past_.at(CurrentStep()).proofs.contains(worker)) workers_proven_.push_back(worker);
  }
  drawn_ = round_->next_drawn;
  view_ = std::move(block);
  StartUpdate();
}

void PeerMachine::RememberStep() {
  PastStep past;
  past.state = state_;
  past.tau = round_->sealed.tau;
  past.previous_randomness = view_->randomness;
  for (std::size_t j = 0; j < round_->fates.size(); ++j) {
    if (round_->fates[j] == ColumnFate::kApplied) past.applied.push_back(ColumnOf(j));
  }
  for (const auto& [member, proof] : round_->sealed.proofs) {
    const bool complete = proof.columns.size() == round_->sealed.roles.parts.size();
    if (complete && round_->sealed.roles.IsWorker(member)) past.proofs.emplace(member, proof);
  }
  past_.emplace(CurrentStep(), std::move(past));
  if (past_.size() > kPastSteps) past_.erase(past_.begin());
}

// V1: what everyone stated of my column against the parts that I hold.
void PeerMachine::StartCrossCheck() {
  Round& round = *round_;
  if (!round.my_part || round.results[*round.my_part] == nullptr) return;
  CrossCheckSpec spec;
  spec.column = ColumnOf(*round.my_part);
  spec.tau = round.sealed.tau;
  for (const auto& [worker, held] : round.held) {
    const auto proof = round.sealed.proofs.find(worker);
    if (proof == round.sealed.proofs.end()) continue;
    if (proof->second.columns.size() != round.sealed.roles.parts.size()) continue;
    const wire::ColumnNumbers& numbers = proof->second.columns[*round.my_part];
    if (!numbers.missing) spec.claims.push_back({worker, held.blob, numbers});
  }
  StartJob({.purpose = Purpose::kCrossCheck, .step = CurrentStep(), .accuser = {}, .target = {}},
           std::move(spec));
}

void PeerMachine::OnCrossChecked(const PendingJob& job, const CrossCheckResult& result) {
  for (const PeerId& liar : result.liars) {
    Suspect(liar, "V1",
            "its sealed numbers of step " + std::to_string(job.step) +
                " do not follow from the part that it sent me");
  }
}

void PeerMachine::StartUpdate() {
  stage_ = Stage::kUpdate;
  UpdateSpec spec;
  spec.state = state_;
  for (std::size_t j = 0; j < round_->fates.size(); ++j) {
    if (round_->fates[j] != ColumnFate::kApplied) continue;
    spec.columns.push_back({round_->sealed.roles.parts[j], round_->results[j]});
  }
  spec.sgd = SgdOf(manifest_->training, CurrentStep());
  StartJob({.purpose = Purpose::kUpdate, .step = CurrentStep(), .accuser = {}, .target = {}},
           std::move(spec));
}

void PeerMachine::OnUpdated(const UpdateResult& result) {
  state_ = result.state;
  round_->times.aggregate_ns += (now_ - mark_).ns;
  out_->Add(Observe{round_->times});
  out_->Add(Observe{StepDone{view_, state_}});
  if (RunEndsWith(manifest_->training, view_->step, last_removal_step_, !view_->cases.empty())) {
    return Halt(Halted::Why::kFinished, "all steps are done");
  }
  BeginStep();
}

}  // namespace ostraka::protocol
