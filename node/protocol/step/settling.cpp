#include "node/protocol/step/settling.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "aggregation/kernels/projection.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/ground/schedule.h"
#include "node/protocol/ground/stored_state.h"
#include "node/protocol/rules/cases.h"
#include "node/protocol/rules/invite_book.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {
namespace {

// A follower that asks for nothing more is gone. A follower that waits asks one member in each half
// Delta (that of its leave), so it asks each member once in n / 2 Delta.
base::Duration FollowersStay(std::size_t n, base::Duration delta) {
  return base::Seconds(60) + delta * static_cast<std::int64_t>(n);
}

std::string DescribeRemoval(const Block& block, const PeerId& peer) {
  for (const wire::Removal& removal : block.removals) {
    if (removal.peer == peer) return "dropped: " + wire::TextOf(removal.reason);
  }
  return "no member any more";
}

}  // namespace

// --- the block ----------------------------------------------------------------------------------

void Settling::Begin(const Digest& decision_c) {
  decision_c_ = decision_c;
  fates_ = JudgeWithoutAggregates(facts_.reading.sealed, core_.chain.head());
}

Outcome Settling::Try(const OwnRoots& own) {
  const std::vector<SharedBlob>& results = results_.all();
  const auto applied = [&](std::size_t j) { return fates_[j] == ColumnFate::kApplied; };
  for (std::size_t j = 0; j < fates_.size(); ++j) {
    if (applied(j) && results[j] == nullptr) return Outcome::Wait();  // its owner owes it
  }
  // Only now, and so once: each takes a pass over its values.
  std::vector<ResultSize> sizes(fates_.size());
  for (std::size_t j = 0; j < fates_.size(); ++j) {
    if (!applied(j)) continue;
    sizes[j] = SizeOf(core_.manifest->codecs.results, *results[j], facts_.roles().parts[j].size());
  }
  Block block =
      facts_.reading.Judge(core_.chain.head(), *core_.manifest, decision_c_, sizes, fates_);
  const auto& agreed = facts_.reading.sealed.parameters_root;
  if ((block.state_root && own.state && *block.state_root != *own.state) ||
      (agreed && own.parameters && *agreed != *own.parameters)) {
    return Outcome::Leave("DIVERGED: this node's state of step " + std::to_string(facts_.number()) +
                              " is not the sealed one",
                          false);  // B3
  }
  return TakeBlock(std::make_shared<const Block>(std::move(block)));
}

Outcome Settling::TakeBlock(SharedBlock block) {
  core_.journal.StoreBlock(*block, core_.chain.KeepBlock(*block).encoded);  // B2
  charges_.TakeVotes(facts_.reading.sealed, facts_.reading.proofs, core_.chain.head(), *block);
  ProveGradients(*block);
  CrossCheck();
  Remember();
  for (const wire::Removal& removal : block->removals) {
    core_.inbox.ForgetSenderAfter(block->step, removal.peer);
    // A member that was dropped meanwhile can still be banned for its fault.
    if (wire::IsBan(removal.kind)) charges_.OnBan(removal.peer);
    reports_.OnRemoval(removal.peer);
    if (removal.peer == core_.self && wire::IsBan(removal.kind)) {
      return Outcome::Halt(Halted::Why::kBanned, "banned in step " + std::to_string(block->step) +
                                                     ": " + wire::TextOf(removal.reason));
    }
  }
  for (const PeerId& peer : block->left) {
    core_.inbox.ForgetSenderAfter(block->step, peer);
    reports_.OnRemoval(peer);
  }
  ruled_ = RuledCases(facts_.reading.sealed, core_.chain.head(), facts_.reading.exact);
  duties_.OnBlock(*block);
  duty_jobs_.OnBlock(*block);
  followers_.OnHead(*block, [&](const Voucher& voucher) {
    return InviteBook(*block, HeightOf(*block))
        .LastingRefusalOf(voucher, *core_.manifest, HeightOf(*block))
        .has_value();
  });
  core_.chain.AdvanceHead(std::move(block));
  core_.chain.TrimPast(LooksIn(*core_.manifest));
  pace_.Tell(core_.turn, core_.chain.head(), *core_.manifest, core_.self);
  StartUpdate();
  return Outcome::GoOn();
}

// We write no evidence file for a suspension: one hardware fault should not mark a key forever. Nor
// for false numbers of a true gradient: the file would prove nothing. So a member writes the file
// only if it has found the gradient false itself.
void Settling::ProveGradients(const Block& block) {
  if (!facts_.reading.exact) return;
  const Block& head = core_.chain.head();
  for (const wire::Case& open : CountBallots(facts_.reading.sealed, head)) {
    const PeerId& worker = open.id.target;
    const auto bans = [&](const auto& r) { return r.peer == worker && wire::IsBan(r.kind); };
    if (open.id.kind != wire::CaseKind::kGradient ||
        RuleOn(open, head, block.step, /*exact=*/true) != Ruling::kGuilty ||
        !duties_.FoundFalseGradient(open.id) ||
        std::none_of(block.removals.begin(), block.removals.end(), bans)) {
      continue;
    }
    const PastStep* past = core_.chain.Past(open.id.step);
    // The block of step s has height s + 1, and the genesis block height 0.
    const RecentBlocks::Kept* before = core_.chain.recent().Find(open.id.step);
    // It came back since.
    if (past == nullptr || past->parameters == nullptr || before == nullptr) continue;
    const auto commit = past->commit_frames.find(worker);
    if (commit == past->commit_frames.end()) continue;
    charges_.Keep(evidence::MakeFalseGradient(*commit->second, before->encoded));
    core_.turn.Do(Observe{FalseGradient{open.id.step, worker, past->parameters}});
  }
}

// Check V1 (docs/protocol/checks.md): what the workers that the sealed AGG includes stated of this
// member's column, against their parts. After a restart parts of others may be held too: a naming
// of one of these does not count, and this member would owe a name still.
void Settling::CrossCheck() {
  duties_.ForgetCrossCheck();
  const auto& mine = facts_.my_column;
  if (!mine || results_.all()[*mine] == nullptr) return;
  const SealedStep& sealed = facts_.reading.sealed;
  CrossCheckSpec spec;
  spec.column = results_.ColumnOf(*mine);
  spec.codec = core_.manifest->codecs.parts;
  spec.tau = sealed.tau;
  const auto included = IncludedIn(sealed, core_.chain.head(), *mine);
  if (!included) return;
  for (const auto& [worker, held] : column_.held()) {
    if (!IsMember(*included, worker)) continue;
    const auto proof = sealed.proofs.find(worker);
    if (proof == sealed.proofs.end()) continue;
    if (proof->second.columns.size() != sealed.roles.parts.size()) continue;
    const wire::ColumnNumbers& numbers = proof->second.columns[*mine];
    if (!numbers.missing) spec.claims.push_back({worker, held.blob, numbers});
  }
  duty_jobs_.StartCrossCheck(facts_.number(), std::move(spec));
}

void Settling::Remember() {
  const SealedStep& sealed = facts_.reading.sealed;
  PastStep past;
  past.members = core_.chain.head().members;
  past.parameters = core_.chain.state().parameters;
  past.tau = sealed.tau;
  past.batches = BatchPlanOf(core_.chain.head());
  for (std::size_t j = 0; j < fates_.size(); ++j) {
    past.columns.push_back(results_.ColumnOf(j));
  }
  past.fates = fates_;
  past.commits = sealed.commits;
  for (const auto& [member, commit] : facts_.reading.commits) {
    if (sealed.roles.IsWorker(member)) past.commit_frames.emplace(member, commit->frame);
  }
  for (const auto& [member, proof] : sealed.proofs) {
    const bool complete = proof.columns.size() == sealed.roles.parts.size();
    if (!complete || !sealed.roles.IsWorker(member)) continue;
    past.proofs.emplace(member, facts_.reading.proofs.at(member));
  }
  if (facts_.my_column) {
    for (const auto& [worker, held] : column_.held()) {
      past.parts[{*facts_.my_column, worker}] = {held.frame, held.blob};
    }
  }
  core_.chain.Remember(facts_.number(), std::move(past));
}

// --- the update ---------------------------------------------------------------------------------

void Settling::StartUpdate() {
  UpdateSpec spec;
  spec.state = core_.chain.state();
  spec.layout = core_.layout;
  for (std::size_t j = 0; j < fates_.size(); ++j) {
    const SharedBlob& result = results_.all()[j];
    const bool planted = base::Planted(base::Bug::kVoidColumnApplied) && result != nullptr;
    if (fates_[j] != ColumnFate::kApplied && !planted) continue;
    spec.columns.push_back({facts_.roles().parts[j], result});
  }
  spec.codec = core_.manifest->codecs.results;
  spec.step = OptimizerStepOf(core_.manifest->training, facts_.number());
  update_ =
      core_.jobs.Start({.about = facts_.number(), .asked_in = facts_.number()}, std::move(spec));
}

Outcome Settling::OnJob(const JobResult& result) {
  OSTRAKA_CHECK(update_);
  update_.reset();
  core_.chain.SetState(std::get<UpdateResult>(result).state);
  const Block& head = core_.chain.head();
  if (wire::Trained(core_.chain.head())) core_.turn.Do(Observe{clock_.times});
  core_.turn.Do(
      Observe{StepDone{core_.chain.shared_head(), core_.chain.state(), std::exchange(ruled_, {})}});
  if (StoresState(*core_.manifest, HeightOf(head))) core_.StoreState();
  ShowHeadToFollowers();
  if (wire::RunIsOver(head)) return Outcome::Finish();
  if (IsMember(head.left, core_.self)) return Outcome::Finish();
  // Dropped by rules that need no absence: the others do not listen any more.
  if (!IsMember(head.members, core_.self)) {
    return Outcome::Leave(DescribeRemoval(head, core_.self));
  }
  return Outcome::BeginStep();
}

// Also to a follower that this block admits: it waits for the block.
void Settling::ShowHeadToFollowers() {
  const Block& head = core_.chain.head();
  for (const PeerId& peer : followers_.all()) {
    if (IsMember(head.members, peer)) {
      server_.ShowHead(peer);
    } else {
      server_.ShowHeadAsGuest(peer, followers_.ShareOf(peer, head.standings.size()));
    }
  }
  const std::size_t n = head.members.size();
  followers_.Expire(facts_.reading.sealed.commit_digests, facts_.number(), core_.turn.now(),
                    FollowersStay(n, core_.chain.delta()));
}

void Settling::CheckInvariants() const {
  OSTRAKA_CHECK(fates_.empty() || fates_.size() == facts_.roles().parts.size());
  OSTRAKA_CHECK(!update_ || core_.chain.head().step == facts_.number());  // B2
}

void Settling::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, decision_c_, fates_, update_);
}

}  // namespace ostraka::protocol
