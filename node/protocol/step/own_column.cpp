#include "node/protocol/step/own_column.h"

#include <utility>
#include <variant>
#include <vector>

#include "crypto/set_root.h"
#include "node/base/check.h"
#include "node/protocol/step/part_check.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {

using wire::MessageType;
using wire::Phase;

OwnColumn::OwnColumn(Core& core, Charges& charges, const Reports& reports, const StepFacts& facts)
    : core_(core), charges_(charges), reports_(reports), facts_(facts) {
  to_judge_.insert(facts.roles().workers.begin(), facts.roles().workers.end());
}

// --- parts --------------------------------------------------------------------------------------

void OwnColumn::Try() {
  if (!owned() || started_ || (facts_.reading.exact && !parameters_root_)) return;
  // The AGG was sent before a crash; the journal sends it again.
  const bool said =
      core_.inbox.Find(facts_.PlaceOf(Phase::kA, MessageType::kAggregate), core_.self) != nullptr;
  Judge();
  if (!said && closed_) StartAggregation();
}

void OwnColumn::Judge() {
  for (const PeerId& worker : std::exchange(to_judge_, {})) {
    if (facts_.roles().IsWorker(worker) && !IsJudged(worker)) JudgePartOf(worker);
  }
  if (held_.size() + refused_.size() == facts_.roles().workers.size()) closed_ = true;
}

bool OwnColumn::HasOwnParameters(const Inbox::Version& commit) const {
  const auto* body = commit.message->As<wire::Commit>();
  return body != nullptr && body->parameters_root == parameters_root_;
}

void OwnColumn::JudgePartOf(const PeerId& worker) {
  const Inbox::Item* commit =
      core_.inbox.Find(facts_.PlaceOf(Phase::kA, MessageType::kCommit), worker);
  // Under two COMMITs no part counts, and a worker that is caught may send none. One of them may
  // name another history.
  if (commit != nullptr && commit->equivocated()) {
    refused_.insert(worker);
    return;
  }
  const Inbox::Version* part =
      Usable(core_.inbox, facts_,
             facts_.PlaceOf(Phase::kA, MessageType::kPart, 0, *facts_.my_column), worker);
  if (commit == nullptr || part == nullptr) return;
  if (commit->message->envelope.entry != facts_.parent_a) return;
  // Computed from another model, so of no use here, whatever it is.
  if (facts_.reading.exact && !HasOwnParameters(*commit)) {
    refused_.insert(worker);
    return;
  }
  const auto reason = PartFault(*commit, *part, *facts_.my_column, facts_.roles().parts,
                                core_.manifest->codecs.parts);
  if (!reason) {
    held_.emplace(worker, Held{part->blob, commit->message->digest, part->message->frame});
    return;
  }
  refused_.insert(worker);
  charges_.Show(worker, evidence::MakeFalsePart(*commit->message->frame, *part->message->frame));
  core_.voice.Suspect(worker, "part", *reason);
}

// --- the aggregate ------------------------------------------------------------------------------

void OwnColumn::StartAggregation() {
  started_ = true;
  if (held_.empty()) return State(nullptr);
  AggregateSpec spec;
  spec.size = facts_.roles().parts[*facts_.my_column].size();
  spec.codecs = core_.manifest->codecs;
  for (const auto& [worker, held] : held_) spec.parts.push_back(held.blob);
  spec.clip = core_.manifest->clip;
  spec.tau = facts_.reading.sealed.tau;
  spec.eps = core_.manifest->eps;
  job_ = core_.jobs.Start({.about = facts_.number(), .asked_in = facts_.number()}, std::move(spec));
}

void OwnColumn::OnJob(const JobResult& result) {
  OSTRAKA_CHECK(job_);
  job_.reset();
  const auto* computed = std::get_if<AggregateResult>(&result);
  State(computed == nullptr ? nullptr : computed->result);
}

// `result` is null if nothing was held, or the work failed.
void OwnColumn::State(const SharedBlob& result) {
  const std::uint32_t index = *facts_.my_column;
  const std::vector<PeerId>& members = core_.chain.head().members;
  std::vector<PeerId> senders;
  std::vector<Digest> leaves;
  std::vector<Digest> commits;
  for (const auto& [worker, held] : held_) {
    senders.push_back(worker);
    leaves.push_back(held.blob->root);
    commits.push_back(held.commit);
  }
  wire::Aggregate aggregate;
  aggregate.part_index = index;
  aggregate.result_root = result == nullptr ? Digest{} : result->root;
  aggregate.included = wire::BitmapOf(senders, members);
  aggregate.leaves_root = crypto::MerkleRoot(leaves);
  aggregate.commits_root = crypto::SetRoot(commits);
  aggregate.slowest = SlowestSender();

  std::vector<Draft> drafts;
  drafts.push_back(
      core_.voice.MakeDraft(core_.voice.SlotOf(facts_.number(), Phase::kA, MessageType::kAggregate),
                            facts_.parent_a, wire::Encode(aggregate), members));
  if (result != nullptr) {
    // An AGG whose aggregate is lost drops its owner.
    core_.KeepResult(facts_.number(), index, result);
    drafts.push_back(ResultDraft(result));
  }
  core_.voice.Prepare(std::move(drafts));
}

Draft OwnColumn::ResultDraft(const SharedBlob& result) const {
  const std::uint32_t index = *facts_.my_column;
  const wire::Result body{HeaderOf(facts_.roles().parts[index], core_.manifest->codecs.results),
                          result->root};
  return core_.voice.MakeDraft(
      core_.voice.SlotOf(facts_.number(), Phase::kA, MessageType::kResult, 0, index),
      facts_.parent_a, wire::Encode(body), core_.chain.head().members, result);
}

void OwnColumn::SendResultAgain() {
  if (!owned()) return;
  const SharedBlob result = core_.chain.ResultAt(facts_.number(), *facts_.my_column);
  if (result == nullptr) return;
  Draft draft = ResultDraft(result);
  if (core_.journal.Said(draft.envelope.slot)) core_.voice.Prepare(std::move(draft));
}

std::optional<PeerId> OwnColumn::SlowestSender() const {
  const auto slowest = reports_.SlowestSender();
  if (!slowest) return std::nullopt;
  const PeerId& member = core_.chain.head().members[*slowest];
  return member == core_.self ? std::nullopt : std::optional(member);
}

void OwnColumn::CheckInvariants() const {
  OSTRAKA_CHECK(held_.size() + refused_.size() <= facts_.roles().workers.size());
  OSTRAKA_CHECK(!started_ || (owned() && closed_));  // O2
  OSTRAKA_CHECK(!job_ || started_);
  for (const auto& [worker, held] : held_) OSTRAKA_CHECK(!refused_.contains(worker));  // O1
}

void OwnColumn::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, held_, refused_, to_judge_, closed_, started_, job_, parameters_root_);
}

}  // namespace ostraka::protocol
