// After seal C: the block, the update of the replicated state, and the next step.
#include <algorithm>
#include <utility>

#include "aggregation/kernels/projection.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::Phase;

namespace {

// A watcher that asks for nothing more is gone. One that waits asks a member for its head in each
// half Delta, so each is asked once in n / 2 of them.
base::Duration FollowersStay(std::size_t n, base::Duration delta) {
  return base::Seconds(60) + delta * static_cast<std::int64_t>(n);
}

std::string DescribeRemoval(const Block& block, const PeerId& peer) {
  for (const wire::Removal& removal : block.removals) {
    if (removal.peer == peer) return "dropped: " + removal.reason;
  }
  return "no member any more";
}

}  // namespace

bool PeerMachine::TrySettle() {
  Round& round = *round_;
  JudgeResults();
  std::vector<double> norms(round.fates.size(), 0.0);
  for (std::size_t j = 0; j < round.fates.size(); ++j) {
    if (round.fates[j] != ColumnFate::kApplied) continue;
    if (round.results[j] == nullptr) return false;  // its owner owes it to us
    norms[j] = aggregation::Norm(AsFloats(*round.results[j]));
  }
  const Block judged_block =
      round.reading.Judge(chain_.head(), *manifest_, round.decision_c, norms, round.fates);
  if (judged_block.state_root && round.my_state_root &&
      *judged_block.state_root != *round.my_state_root) {
    Leave("DIVERGED: this node's state of step " + std::to_string(CurrentStep()) +
              " is not the sealed one",
          false);
    return true;
  }
  TakeBlock(std::make_shared<const Block>(std::move(judged_block)));
  return true;
}

void PeerMachine::TakeBlock(std::shared_ptr<const Block> block) {
  // The results that it applies are stored already: after a crash of all, the run goes on from
  // here.
  journal_.StoreBlock(*block, chain_.KeepBlock(*block).encoded);
  charges_.TakeVotes(round_->reading.sealed, round_->reading.proofs, chain_.head(), *block);
  StartCrossCheck();
  RememberStep();
  for (const wire::Removal& removal : block->removals) {
    inbox_.ForgetSenderAfter(block->step, removal.peer);
    // Who was dropped meanwhile can still be banned for it.
    if (wire::IsBan(removal.kind)) charges_.OnBan(removal.peer);
    reports_.OnRemoval(removal.peer);
    if (removal.peer == self_ && wire::IsBan(removal.kind)) {
      return Halt(Halted::Why::kBanned,
                  "banned in step " + std::to_string(block->step) + ": " + removal.reason);
    }
  }
  duties_.OnBlock(*block);
  followers_.OnHead(block->members);
  chain_.AdvanceHead(std::move(block));
  TellOwnLateness();
  StartUpdate();
}

void PeerMachine::RememberStep() {
  PastStep past;
  past.members = chain_.head().members;
  past.state = chain_.state();
  past.tau = round_->reading.sealed.tau;
  past.previous_randomness = chain_.head().randomness;
  for (std::size_t j = 0; j < round_->fates.size(); ++j) past.columns.push_back(ColumnOf(j));
  past.fates = round_->fates;
  past.commits = round_->reading.sealed.commits;
  for (const auto& [member, proof] : round_->reading.sealed.proofs) {
    const bool complete = proof.columns.size() == round_->reading.sealed.roles.parts.size();
    if (!complete || !round_->reading.sealed.roles.IsWorker(member)) continue;
    past.proofs.emplace(member, round_->reading.proofs.at(member));
  }
  if (round_->my_part) {
    for (const auto& [worker, held] : round_->held) {
      past.parts[{*round_->my_part, worker}] = {held.frame, held.blob};
    }
  }
  chain_.Remember(CurrentStep(), std::move(past));
}

void PeerMachine::StartUpdate() {
  Enter(Stage::kUpdate);
  UpdateSpec spec;
  spec.state = chain_.state();
  for (std::size_t j = 0; j < round_->fates.size(); ++j) {
    const bool wanted =
        base::Planted(base::Bug::kVoidColumnApplied) && round_->results[j] != nullptr;
    if (round_->fates[j] != ColumnFate::kApplied && !wanted) continue;
    spec.columns.push_back({round_->reading.sealed.roles.parts[j], round_->results[j]});
  }
  spec.sgd = SgdOf(manifest_->training, CurrentStep());
  StartJob({.purpose = Purpose::kUpdate, .step = CurrentStep()}, std::move(spec));
}

void PeerMachine::OnUpdated(const UpdateResult& result) {
  chain_.SetState(result.state);
  round_->times.aggregate_ns += (turn_.now() - mark_).ns;
  turn_.Do(Observe{round_->times});
  turn_.Do(Observe{StepDone{chain_.shared_head(), chain_.state()}});
  if (HeightOf(chain_.head()) % kStateEvery == 0)
    journal_.StoreState(chain_.head(), chain_.state());
  ShowHeadToFollowers();
  if (RunIsOver(chain_.head())) return Finish();
  // Dropped by rules that need no absence: the others do not listen any more.
  if (!IsMember(chain_.head().members, self_)) return Leave(DescribeRemoval(chain_.head(), self_));
  BeginStep();
}

// Also to one whom this block admits: it waits for it.
void PeerMachine::ShowHeadToFollowers() {
  for (const PeerId& peer : followers_.all()) ShowHead(peer);
  const std::vector<PeerId>& members = chain_.head().members;
  followers_.Expire(members, turn_.now(), FollowersStay(members.size(), chain_.delta()));
}

}  // namespace ostraka::protocol
