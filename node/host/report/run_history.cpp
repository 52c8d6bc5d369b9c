#include "node/host/report/run_history.h"

#include <algorithm>
#include <variant>

#include "node/base/check.h"

namespace ostraka::host {
namespace {

// The newest `most` remain.
template <typename T>
void Bound(std::deque<T>& list, std::size_t most) {
  if (list.size() > most) list.pop_front();
}

// The votes by which a block's ban or suspension was decided: those of the first case that the
// member lost.
std::optional<PastVotes> VotesFor(const wire::Removal& removal,
                                  const std::vector<protocol::RuledCase>& ruled) {
  if (removal.kind != wire::RemovalKind::kVerdict && removal.kind != wire::RemovalKind::kDrop) {
    return std::nullopt;
  }
  const auto found = std::find_if(ruled.begin(), ruled.end(),
                                  [&](const auto& each) { return each.loser == removal.peer; });
  if (found == ruled.end()) return std::nullopt;
  PastVotes votes;
  votes.voters = found->voters;
  for (const wire::Case::Ballot& ballot : found->ballots) {
    if (ballot.verdict == wire::Verdict::kAbstain) continue;
    const bool agrees = wire::Condemns(ballot.verdict) == wire::Condemns(found->verdict);
    (agrees ? votes.against : votes.in_favour).push_back(ballot.voter);
  }
  return votes;
}

}  // namespace

void RunHistory::See(base::Time now, const protocol::Observation& what) {
  std::visit([this, now](const auto& seen) { On(now, seen); }, what);
  CheckInvariants();
}

void RunHistory::SeeEvaluation(std::uint64_t step, const train::Evaluation& evaluation) {
  metric_ = evaluation.metric;
  curve_.Add({step, evaluation.loss, evaluation.value});
}

void RunHistory::SeeStored(const protocol::Record& record) {
  if (record.kind != protocol::RecordKind::kEvidence) return;
  const auto file = wire::DecodeEvidence(record.value);
  const auto id = base::Digest::FromBytes(record.key);
  if (!file.ok() || !id) return;
  proofs_.push_back({*id, file->accused, file->kind, file->frames.size()});
  Bound(proofs_, kMostProofs);
  CheckInvariants();
}

void RunHistory::RecallBlock(const std::vector<wire::Assignment>& validators,
                             const wire::Block& block) {
  if (block.genesis) return;
  OSTRAKA_CHECK(block_ == nullptr && (!recalled_ || *recalled_ < block.step));
  recalled_ = block.step;
  if (block.state_root) root_ = SealedRoot{block.step, *block.state_root};
  Count(block, {});
  counts_ = block.batch_counts;
  CountChecks(validators);
  CheckInvariants();
}

void RunHistory::RecallRemoval(const wire::Removal& removal) {
  removals_.push_back({removal, std::nullopt, std::nullopt});
  Bound(removals_, kMostRemovals);
}

void RunHistory::RecallProof(const KnownProof& proof) {
  proofs_.push_back(proof);
  Bound(proofs_, kMostProofs);
}

void RunHistory::On(base::Time now, const protocol::StepStarted& seen) {
  // A step that closes the run gives nobody work: the roles before it say more.
  if (block_ != nullptr && block_->closing > 0) return;
  workers_ = {seen.roles.workers.begin(), seen.roles.workers.end()};
  validators_.clear();
  for (const wire::Assignment& each : seen.roles.validators) validators_.insert(each.validator);
  if (!WasRecalled(seen.step)) CountChecks(seen.roles.validators);
  current_ = StepSpan{};
  current_->step = seen.step;
  phase_began_ = now;
}

void RunHistory::On(base::Time now, const protocol::Sealed& seen) {
  if (!current_ || seen.step != current_->step) return;
  const base::Duration took = now - phase_began_;
  switch (static_cast<wire::Phase>(seen.phase)) {
    case wire::Phase::kA:
      current_->collect = current_->collect + took;
      break;
    case wire::Phase::kB:  // once for each draw of the coin
      current_->reveal = current_->reveal + took;
      break;
    case wire::Phase::kC:
      current_->prove = current_->prove + took;
      break;
    case wire::Phase::kGenesis:
      return;
  }
  phase_began_ = now;
}

void RunHistory::On(base::Time /*now*/, const protocol::SlowSeal& seen) {
  if (current_ && seen.step == current_->step) current_->slow = true;
}

void RunHistory::On(base::Time now, const protocol::StepDone& seen) {
  const wire::Block& block = *seen.block;
  if (!block.genesis && !WasRecalled(block.step)) Count(block, seen.ruled);
  TakeBlock(seen.block);
  if (!block.genesis) EndSpan(now, block.step);
}

void RunHistory::On(base::Time /*now*/, const protocol::StepTimes& seen) {
  if (current_ && current_->step == seen.step) {
    current_->times = seen;
  } else if (!spans_.empty() && spans_.back().step == seen.step) {
    spans_.back().times = seen;
  }
}

void RunHistory::On(base::Time /*now*/, const protocol::Resumed& seen) { TakeBlock(seen.block); }

void RunHistory::On(base::Time /*now*/, const protocol::Away& seen) {
  away_ = seen.reason;
  current_.reset();
}

void RunHistory::On(base::Time /*now*/, const protocol::Back& /*seen*/) { away_.clear(); }

void RunHistory::TakeBlock(const std::shared_ptr<const wire::Block>& block) {
  block_ = block;
  counts_ = block->batch_counts;
  if (block->state_root) root_ = SealedRoot{block->step, *block->state_root};
}

void RunHistory::Count(const wire::Block& block, const std::vector<protocol::RuledCase>& ruled) {
  if (!counted_from_) counted_from_ = block.step;
  for (const wire::Removal& removal : block.removals) {
    removals_.push_back({removal, std::nullopt, VotesFor(removal, ruled)});
    Bound(removals_, kMostRemovals);
  }
  for (const base::PeerId& peer : block.joined) {
    const auto last =
        std::find_if(removals_.rbegin(), removals_.rend(),
                     [&peer](const PastRemoval& past) { return past.removal.peer == peer; });
    if (last != removals_.rend()) last->returned = block.step;
  }
  CountVouchers(block);
  CountWork(block);
}

// A block counts the use of an invite and forgets whose it was: the candidacy before it tells.
void RunHistory::CountVouchers(const wire::Block& block) {
  for (const base::PeerId& peer : block.joined) {
    const auto candidate = candidates_.find(peer);
    if (candidate == candidates_.end()) continue;
    if (vouched_.size() < kMostPeers) vouched_[peer] = candidate->second;
  }
  candidates_.clear();
  for (const wire::Candidate& candidate : block.candidates) {
    if (candidate.voucher) candidates_[candidate.peer] = candidate.voucher->moderator;
  }
}

void RunHistory::CountChecks(const std::vector<wire::Assignment>& validators) {
  for (const wire::Assignment& each : validators) {
    if (MemberWork* target = WorkOf(each.target)) ++target->checked;
    if (MemberWork* validator = WorkOf(each.validator)) ++validator->checks;
  }
}

void RunHistory::CountWork(const wire::Block& block) {
  const std::size_t columns = std::min(block.columns.size(), block.aggregated.size());
  // The first applied column has nearly every worker, so this looks into few.
  const auto entered = [&](const base::PeerId& worker) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::vector<base::PeerId>& senders = block.aggregated[j].senders;
      if (block.columns[j] == wire::ColumnFate::kApplied &&
          std::binary_search(senders.begin(), senders.end(), worker)) {
        return true;
      }
    }
    return false;
  };
  for (const base::PeerId& worker : block.proven) {
    if (!entered(worker)) continue;
    MemberWork* work = WorkOf(worker);
    if (work == nullptr) continue;
    ++work->steps;
    for (const wire::BatchCount& listed : counts_) {
      if (listed.peer != worker) continue;
      ++work->listed_steps;
      work->listed_batches += listed.count;
    }
  }
}

MemberWork* RunHistory::WorkOf(const base::PeerId& peer) {
  const auto found = work_.find(peer);
  if (found != work_.end()) return &found->second;
  return work_.size() < kMostPeers ? &work_[peer] : nullptr;
}

void RunHistory::EndSpan(base::Time now, std::uint64_t step) {
  if (!current_ || current_->step != step) return;
  current_->settle = now - phase_began_;
  spans_.push_back(*current_);
  current_.reset();
  Bound(spans_, kSpans);
}

void RunHistory::CheckInvariants() const {
  OSTRAKA_CHECK(spans_.size() <= kSpans && removals_.size() <= kMostRemovals);
  OSTRAKA_CHECK(proofs_.size() <= kMostProofs && work_.size() <= kMostPeers);
  for (const StepSpan& span : spans_) {
    OSTRAKA_CHECK(span.collect.ns >= 0 && span.reveal.ns >= 0);
    OSTRAKA_CHECK(span.prove.ns >= 0 && span.settle.ns >= 0);
  }
}

}  // namespace ostraka::host
