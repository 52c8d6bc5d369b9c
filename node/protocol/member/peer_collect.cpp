// Phase A of a step: COMMIT, PARTs, AGG, RESULT and seal A.
#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/set_root.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/member/peer_machine.h"
#include "node/wire/bitmap.h"
#include "node/wire/codec.h"
#include "proofs/evidence/evidence.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;
using wire::Phase;

wire::TensorHeader HeaderOf(const PartRange& range) {
  return {
      .element = wire::ElementType::kFloat32, .codec = wire::Codec::kRaw, .shape = {range.size()}};
}

}  // namespace

// --- a step begins ------------------------------------------------------------------------------

void PeerMachine::BeginStep() {
  const std::uint64_t step = HeightOf(chain_.head());
  const std::uint64_t dimension = chain_.state().parameters->size();
  Round& round = round_.emplace(StepReading(chain_.head(), *manifest_, dimension));
  round.results.resize(round.reading.sealed.roles.parts.size());
  round.entry_a = wire::BlockDigest(chain_.head());
  round.my_part = round.reading.sealed.roles.PartOwnedBy(self_);
  round.pairs = LivePairsOf(chain_.head(), round.reading.sealed.roles);
  round.to_judge.insert(round.reading.sealed.roles.workers.begin(),
                        round.reading.sealed.roles.workers.end());
  round.times.step = step;
  mark_ = turn_.now();

  // The last step's messages stay for those who are stuck in it.
  const std::uint64_t kept = step == 0 ? 0 : step - 1;
  inbox_.ForgetBefore(kept);
  std::erase_if(past_seals_, [kept](const auto& entry) { return entry.first.step < kept; });
  journal_.ForgetBefore(kept);
  chain_.ForgetResults(step);
  ahead_.clear();
  Enter(Stage::kCollect);
  if (base::Planted(base::Bug::kCanary)) Suspect(self_, "canary", "a bug was planted");
  OpenSeal(Phase::kA, 0, manifest_->part_timeout * 2 + chain_.delta() * 2);
  WatchSealA();
  AskForRefusedParts();
  // Who is owed something in a dispute waits longer than those who may pass it on, since that takes
  // its time. Else a peer that sends at the last moment would have the one who waits for it blamed.
  // Honest members may begin more than a Delta apart, but decided the last seal within it.
  round.forward_until = decided_c_.value_or(turn_.now()) + manifest_->part_timeout;
  turn_.Do(SetTimer{kBulkTimer, std::max(round.forward_until + chain_.delta() * 2, turn_.now())});
  turn_.Do(Observe{StepStarted{step, chain_.head().randomness, chain_.state(),
                               round.reading.sealed.roles, chain_.head().tau}});

  if (round.reading.sealed.roles.IsWorker(self_)) {
    const Digest seed = BatchSeed(manifest_->run_id, manifest_->training.data,
                                  chain_.head().randomness, step, self_);
    StartJob({.purpose = Purpose::kGradient, .step = step},
             GradientSpec{step, self_, chain_.state().parameters, seed, false});
  } else {
    PrepareCommit(std::nullopt, {});
  }
  if (step % manifest_->state_root_every == 0) {
    round.root_pending = true;
    StartJob({.purpose = Purpose::kRoot, .step = step}, RootSpec{chain_.state(), layout_});
  }
  StartRecomputations();
  AskHeadsOfDropped();
}

// A validator recomputes its target's step; every member recomputes what a gradient case is about.
void PeerMachine::StartRecomputations() {
  if (const auto assignment = round_->reading.sealed.roles.AssignmentOf(self_)) {
    if (MayBeTarget(chain_.head(), assignment->target)) {
      StartRecomputation(
          {.purpose = Purpose::kAccuse, .step = assignment->step, .target = assignment->target},
          assignment->target);
    }
  }
  for (const wire::CaseId& about : duties_.GradientCases()) {
    duties_.BeginVote(
        about, StartRecomputation({.purpose = Purpose::kVote, .step = about.step, .about = about},
                                  about.target));
  }
}

bool PeerMachine::StartRecomputation(PendingJob job, const PeerId& target) {
  auto spec = duties_.Recomputation(job.step, target);
  if (!spec) return false;
  ++round_->recomputations_pending;
  StartJob(std::move(job), *std::move(spec));
  return true;
}

// --- own work -----------------------------------------------------------------------------------

void PeerMachine::OnGradient(const GradientResult& result) {
  StartJob({.purpose = Purpose::kPack, .step = CurrentStep()},
           PackSpec{result.gradient, round_->reading.sealed.roles.parts, true});
}

void PeerMachine::OnPacked(const PackResult& result) {
  Round& round = *round_;
  round.parts = result.parts;
  round.times.compute_ns = (turn_.now() - mark_).ns;
  mark_ = turn_.now();
  std::vector<Digest> roots;
  for (const SharedBlob& part : round.parts) roots.push_back(part->root);
  const Digest root = crypto::MerkleRoot(roots);
  const Inbox::Item* said =
      inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, self_);
  if (said != nullptr) {  // before a crash
    const auto commit = wire::DecodeCommit(said->message->envelope.body);
    round.parts_lost = !commit.ok() || commit->gradient_root != root;
    if (round.parts_lost) return;  // what was committed to cannot be shown: the others go on
  }
  PrepareCommit(root, roots);
}

void PeerMachine::PrepareCommit(std::optional<Digest> gradient_root,
                                const std::vector<Digest>& part_roots) {
  const Round& round = *round_;
  wire::Commit commit;
  commit.coin_count = round.reading.coin_count;
  commit.coins_root = crypto::MerkleRoot(CoinCommitments());
  commit.gradient_root = gradient_root;
  std::vector<Draft> drafts;
  drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kCommit), wire::Encode(commit),
                             followers_.Audience(chain_.head().members)));
  for (std::uint32_t j = 0; j < part_roots.size(); ++j) {
    wire::Part part;
    part.header = HeaderOf(round.reading.sealed.roles.parts[j]);
    part.root = part_roots[j];
    part.path = crypto::MerklePath(part_roots, j);
    drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kPart, 0, j), wire::Encode(part),
                               RecipientsOfPart(j), round.parts[j]));
  }
  Prepare(std::move(drafts));
}

// The column's owner; all members, if this worker and that owner failed each other before.
std::vector<PeerId> PeerMachine::RecipientsOfPart(std::uint32_t column) const {
  for (const LivePair& pair : round_->pairs) {
    if (pair.worker == self_ && pair.column == column) return chain_.head().members;
  }
  return {round_->reading.sealed.roles.owners[column]};
}

// --- aggregating my part ------------------------------------------------------------------------

void PeerMachine::JudgeParts() {
  Round& round = *round_;
  for (const PeerId& worker : std::exchange(round.to_judge, {})) {
    if (!round.reading.sealed.roles.IsWorker(worker)) continue;
    if (round.held.contains(worker) || round.refused.contains(worker)) continue;
    const Inbox::Item* commit =
        inbox_.Find({CurrentStep(), Phase::kA, MessageType::kCommit, 0, 0}, worker);
    const Inbox::Item* part =
        Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0, *round.my_part}, worker);
    // Under two COMMITs no part counts, and who is caught may send none. One of them may name
    // another history.
    if (commit != nullptr && commit->equivocated()) {
      round.refused.insert(worker);
      continue;
    }
    if (commit == nullptr || part == nullptr) continue;
    if (commit->message->envelope.entry != EntryOf(Phase::kA)) continue;
    const auto reason = PartFault(*commit, *part, *round.my_part);
    if (!reason) {
      round.held.emplace(
          worker, Round::HeldPart{part->blob, commit->message->digest, part->message->frame});
    } else {
      round.refused.insert(worker);
      charges_.Show(worker,
                    evidence::MakeFalsePart(*commit->message->frame, *part->message->frame));
      Suspect(worker, "part", *reason);
    }
  }
  if (round.held.size() + round.refused.size() == round.reading.sealed.roles.workers.size()) {
    round.parts_closed = true;
  }
}

std::optional<std::string> PeerMachine::PartFault(const Inbox::Item& commit,
                                                  const Inbox::Item& item,
                                                  std::uint32_t column) const {
  if (item.equivocated()) return "equivocated";
  const auto commitment = wire::DecodeCommit(commit.message->envelope.body);
  const auto part = wire::DecodePart(item.message->envelope.body);
  if (!commitment.ok() || !commitment->gradient_root) return "sent a COMMIT without a gradient";
  if (!part.ok()) return "sent a malformed PART: " + base::MessageOf(part.status());
  const std::vector<PartRange>& parts = round_->reading.sealed.roles.parts;
  if (part->header != HeaderOf(parts[column])) return "sent a part of another type, codec or shape";
  if (!crypto::VerifyMerklePath(*commitment->gradient_root, part->root, column, parts.size(),
                                part->path)) {
    return "sent a part that is not under its COMMIT";
  }
  if (!HoldsFiniteFloats(*item.blob, parts[column].size())) {
    return "sent a part with NaN, Inf or a wrong length";
  }
  return std::nullopt;
}

void PeerMachine::TryAggregate() {
  Round& round = *round_;
  if (!round.my_part || round.aggregation_started) return;
  // Said before a crash, and sent again since.
  const bool said =
      inbox_.Find({CurrentStep(), Phase::kA, MessageType::kAggregate, 0, 0}, self_) != nullptr;
  JudgeParts();
  if (said) return;
  if (!round.parts_closed) return;
  round.aggregation_started = true;
  if (round.held.empty()) return PrepareAggregate(nullptr);
  AggregateSpec spec;
  for (const auto& [worker, held] : round.held) spec.parts.push_back(held.blob);
  spec.clip = manifest_->clip;
  spec.tau = round.reading.sealed.tau;
  spec.eps = manifest_->eps;
  StartJob({.purpose = Purpose::kAggregate, .step = CurrentStep()}, std::move(spec));
}

void PeerMachine::OnAggregated(const AggregateResult& result) { PrepareAggregate(result.result); }

// `result` is null if nothing was held: the AGG says so, and the column is void.
void PeerMachine::PrepareAggregate(const SharedBlob& result) {
  const Round& round = *round_;
  const std::uint32_t index = *round.my_part;
  std::vector<PeerId> senders;
  std::vector<Digest> leaves;
  std::vector<Digest> commits;
  for (const auto& [worker, held] : round.held) {
    senders.push_back(worker);
    leaves.push_back(held.blob->root);
    commits.push_back(held.commit);
  }
  wire::Aggregate aggregate;
  aggregate.part_index = index;
  aggregate.result_root = result == nullptr ? Digest{} : result->root;
  aggregate.included = wire::BitmapOf(senders, chain_.head().members);
  aggregate.leaves_root = crypto::MerkleRoot(leaves);
  aggregate.commits_root = crypto::SetRoot(commits);
  aggregate.slowest = SlowestSender();

  std::vector<Draft> drafts;
  drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kAggregate), wire::Encode(aggregate),
                             chain_.head().members));
  if (result != nullptr) {
    KeepResult(CurrentStep(), index, result);  // an AGG whose aggregate is lost drops its owner
    drafts.push_back(ResultDraft(result));
  }
  Prepare(std::move(drafts));
}

Draft PeerMachine::ResultDraft(const SharedBlob& result) const {
  const std::uint32_t index = *round_->my_part;
  const wire::Result body{HeaderOf(round_->reading.sealed.roles.parts[index]), result->root};
  return MakeDraft(SlotOf(Phase::kA, MessageType::kResult, 0, index), wire::Encode(body),
                   chain_.head().members, result);
}

// After a restart: the frame is restored, its bulk data the store has.
void PeerMachine::SendResultAgain() {
  if (!round_->my_part) return;
  const SharedBlob result = chain_.ResultAt(CurrentStep(), *round_->my_part);
  if (result == nullptr) return;
  Draft draft = ResultDraft(result);
  if (journal_.Said(draft.envelope.slot)) Prepare({std::move(draft)});
}

// --- seal A -------------------------------------------------------------------------------------

bool PeerMachine::TrySealA() {
  ForwardDisputed();
  TryAggregate();
  if (stage_ == Stage::kHalted) return false;  // another process signs with this key
  UpdateLateWatch();
  const bool complete = EntriesComplete();
  if (complete && base::Planted(base::Bug::kCoinBeforeSealA)) PrepareReveal();
  if (complete && !seal_->echoed()) {
    round_->times.aggregate_ns += (turn_.now() - mark_).ns;
    mark_ = turn_.now();
  }
  if (!DriveSeal(complete)) return false;
  TakeSealA(*seal_->decision());
  return true;
}

// The messages that the decided vector of the present seal names.
SealedMessages PeerMachine::MessagesOf(const SealVector& vector) const {
  SealedMessages messages(vector.size());
  for (std::size_t i = 0; i < vector.size(); ++i) {
    messages[i].state = static_cast<SealedMessage::State>(vector[i].state);
    const auto place = PlaceOfEntry(i);
    if (!place || vector[i].state != SealEntry::State::kPresent) continue;
    messages[i].message = inbox_.Shared(place->first, place->second, vector[i].digest);
    OSTRAKA_CHECK(messages[i].message !=
                  nullptr);  // a seal decides only when its messages are held
  }
  return messages;
}

void PeerMachine::KeepUnreadable() {
  for (const auto& message : std::exchange(round_->reading.unreadable, {})) {
    charges_.Keep(evidence::MakeUnreadable(*message->frame));
  }
}

// While the network is timely only faulty members are absent. After a partition honest ones may be,
// in each seal others; so no more fall asleep than leave a quorum awake beside t_a faulty ones, or
// the step could never end.
void PeerMachine::PutAbsentToSleep() {
  const wire::Thresholds& bounds = chain_.head().thresholds;
  if (round_->reading.absent.size() + bounds.t_a <= bounds.t_s)
    round_->asleep = round_->reading.absent;
}

void PeerMachine::TakeSealA(const SealVector& decided) {
  const SealVector vector = decided;
  TakeWatches(vector);
  Round& round = *round_;
  round.reading.ReadSealA(chain_.head(), MessagesOf(vector));
  KeepUnreadable();
  charges_.ProveBans(chain_.head(), SealedCommits());
  round.entry_b = CloseSeal();
  PutAbsentToSleep();
  if (round.asleep.contains(self_)) return Leave("what this node sent in phase A came too late");
  Enter(Stage::kReveal);
  OpenSealB();
}

}  // namespace ostraka::protocol
