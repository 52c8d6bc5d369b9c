#include "node/protocol/step/own_gradient.h"

#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"
#include "node/protocol/rules/invite_book.h"
#include "node/protocol/step/part_check.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

OwnGradient::OwnGradient(Core& core, const Followers& followers, const StepFacts& facts,
                         const DisputedPairs& pairs)
    : core_(core), followers_(followers), facts_(facts), pairs_(pairs) {}

void OwnGradient::Begin() {
  const std::uint64_t step = facts_.number();
  const SharedVector& parameters = core_.chain.state().parameters;
  if (facts_.reading.exact) {
    root_job_ = core_.jobs.Start({.about = step, .asked_in = step}, ParametersRootSpec{parameters});
  }
  if (!facts_.roles().IsWorker(core_.self)) return TryCommit();
  GradientSpec due =
      GradientDue(*core_.manifest, BatchPlanOf(core_.chain.head()), step, core_.self, parameters);
  if (BatchesVary(core_.manifest->training) && !due.local.MoveNothing()) {
    timed_ = Timed{core_.turn.now(), due.batches};
  }
  job_ = core_.jobs.Start({.about = step, .asked_in = step}, std::move(due));
}

bool OwnGradient::OnJob(const JobResult& result) {
  if (const auto* hashed = std::get_if<ParametersRootResult>(&result)) {
    OSTRAKA_CHECK(root_job_);
    root_job_.reset();
    parameters_root_ = hashed->root;
    TryCommit();
    return false;
  }
  OSTRAKA_CHECK(job_);
  job_.reset();
  if (const auto* computed = std::get_if<GradientResult>(&result)) {
    if (timed_) core_.own_pace.Note(core_.turn.now() - timed_->began, timed_->batches);
    job_ = core_.jobs.Start({.about = facts_.number(), .asked_in = facts_.number()},
                            PackSpec{.gradient = computed->gradient,
                                     .parts = facts_.roles().parts,
                                     .hash = true,
                                     .codec = core_.manifest->codecs.parts});
    return false;
  }
  parts_ = std::get<PackResult>(result).parts;
  TryCommit();
  return true;
}

void OwnGradient::TryCommit() {
  if (awaits_root()) return;
  if (!facts_.roles().IsWorker(core_.self)) return Commit(std::nullopt, {});
  if (parts_.empty()) return;
  std::vector<Digest> roots;
  for (const SharedBlob& part : parts_) roots.push_back(part->root);
  const Digest root = crypto::MerkleRoot(roots);
  const Inbox::Item* said =
      core_.inbox.Find(facts_.PlaceOf(Phase::kA, MessageType::kCommit), core_.self);
  if (said != nullptr) {  // before a crash
    const auto* commit = said->message->As<wire::Commit>();
    parts_lost_ = commit == nullptr || commit->gradient_root != root ||
                  commit->parameters_root != parameters_root_;
    if (parts_lost_) return;
  }
  Commit(root, roots);
}

Draft OwnGradient::CommitDraft(std::optional<Digest> gradient_root) const {
  wire::Commit commit;
  commit.coin_count = facts_.reading.coin_count;
  commit.coins_root = core_.secrets->CoinsRoot(facts_.number(), commit.coin_count);
  commit.gradient_root = gradient_root;
  commit.parameters_root = parameters_root_;
  const Block& head = core_.chain.head();
  Wishes& wishes = core_.voice.wishes();
  commit.only_dials = wishes.OnlyDials(OnlyDials(head, core_.self));
  commit.leaving = wishes.SaysItLeaves(facts_.number());
  commit.next_batches = core_.own_pace.NextBatches(*core_.manifest, wishes.compute_percent());
  commit.revokes = RevocationToState(head, *core_.manifest, wishes.revocations());
  return core_.voice.MakeDraft(core_.voice.SlotOf(facts_.number(), Phase::kA, MessageType::kCommit),
                               facts_.parent_a, wire::Encode(commit), followers_.Audience(head));
}

void OwnGradient::Commit(std::optional<Digest> gradient_root,
                         const std::vector<Digest>& part_roots) {
  std::vector<Draft> drafts;
  drafts.push_back(CommitDraft(gradient_root));
  for (std::uint32_t j = 0; j < part_roots.size(); ++j) {
    wire::Part part;
    part.header = HeaderOf(facts_.roles().parts[j], core_.manifest->codecs.parts);
    part.root = part_roots[j];
    part.path = crypto::MerklePath(part_roots, j);
    drafts.push_back(core_.voice.MakeDraft(
        core_.voice.SlotOf(facts_.number(), Phase::kA, MessageType::kPart, 0, j), facts_.parent_a,
        wire::Encode(part), RecipientsOf(j), parts_[j]));
  }
  core_.voice.Prepare(std::move(drafts));
}

std::vector<PeerId> OwnGradient::RecipientsOf(std::uint32_t column) const {
  if (pairs_.IsPublic(core_.self, column)) return core_.chain.head().members;
  return {facts_.roles().owners[column]};
}

void OwnGradient::CheckInvariants() const {
  OSTRAKA_CHECK(parts_.empty() || parts_.size() == facts_.roles().parts.size());
  OSTRAKA_CHECK(!parts_lost_ || !parts_.empty());  // G1
  OSTRAKA_CHECK(!job_ || parts_.empty());
}

void OwnGradient::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, core_.self, *core_.secrets, facts_.number(), facts_.reading.coin_count, job_,
               timed_, root_job_, parts_, parts_lost_, parameters_root_);
}

}  // namespace ostraka::protocol
