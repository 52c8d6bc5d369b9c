// Genesis, and phase A of a step: COMMIT, PARTs, AGG, RESULT and seal A.
#include <algorithm>
#include <utility>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/base/check.h"
#include "node/protocol/numbers.h"
#include "node/protocol/peer_machine.h"
#include "node/wire/codec.h"

namespace ostraka::protocol {
namespace {

using wire::MessageType;
using wire::Phase;

wire::TensorHeader HeaderOf(const PartRange& range) {
  return {
      .element = wire::ElementType::kFloat32, .codec = wire::Codec::kRaw, .shape = {range.size()}};
}

}  // namespace

// --- genesis ------------------------------------------------------------------------------------

void PeerMachine::BeginGenesis() {
  stage_ = Stage::kGenesis;
  BeginPhase();
  wire::Boot boot;
  boot.boot_id = crypto::DeriveCoin(private_seed_.view(), 0, ~std::uint64_t{0}).salt;
  Prepare(
      {MakeDraft(SlotOf(Phase::kGenesis, MessageType::kBoot), wire::Encode(boot), view_->members)});
}

bool PeerMachine::TryGenesis() {
  std::optional<SealVector> vector = SealVector{};
  for (const PeerId& member : view_->members) {
    const SealEntry entry = EntryFor({0, Phase::kGenesis, MessageType::kBoot, 0}, member);
    if (entry.state == SealEntry::State::kAbsent) {
      vector.reset();
      break;
    }
    vector->push_back(entry);
  }
  if (!DriveSeal(Phase::kGenesis, 0, vector)) return false;

  const Digest decision =
      DecisionDigest(SlotOf(Phase::kGenesis, MessageType::kEcho), EchoOf(*own_vector_).vector, {});
  auto block = std::make_shared<Block>(*view_);
  block->decision = decision;
  block->randomness =
      crypto::Hasher(crypto::kDomainGenesis).Update(manifest_->run_id).Update(decision).Finish();
  view_ = std::move(block);
  out_->Add(
      Store{next_store_++, {{RecordKind::kBlock, BlockKey(true, 0), wire::EncodeBlock(*view_)}}});
  out_->Add(Observe{Sealed{0, static_cast<std::uint8_t>(Phase::kGenesis), decision}});
  BeginStep();
  return true;
}

// --- a step begins ------------------------------------------------------------------------------

void PeerMachine::BeginStep() {
  const std::uint64_t step = view_->genesis ? 0 : view_->step + 1;
  round_.emplace();
  Round& round = *round_;
  round.sealed.step = step;
  round.sealed.tau = view_->tau;
  round.sealed.roles = AssignRoles(*view_, drawn_, state_.parameters->size());
  round.sealed.aggregates.resize(round.sealed.roles.parts.size());
  round.results.resize(round.sealed.roles.parts.size());
  round.entry_a = view_->decision;
  round.coin_count = std::max(view_->thresholds.t_s, view_->thresholds.t_a) + 1;
  round.my_part = round.sealed.roles.PartOwnedBy(self_);
  round.times.step = step;
  mark_ = now_;

  inbox_.ForgetBefore(step);
  while (!sent_.empty() && sent_.front().step + 1 < step) sent_.pop_front();
  stage_ = Stage::kCollect;
  BeginPhase();
  out_->Add(SetTimer{kBulkTimer, now_ + manifest_->part_timeout});
  out_->Add(Observe{StepStarted{step, view_->randomness, state_, round.sealed.roles, view_->tau}});

  if (round.sealed.roles.IsWorker(self_)) {
    const Digest seed =
        BatchSeed(manifest_->run_id, manifest_->training.data, view_->randomness, step, self_);
    StartJob({.purpose = Purpose::kGradient, .step = step, .accuser = {}, .target = {}},
             GradientSpec{step, self_, state_.parameters, seed, false});
  } else {
    PrepareCommit(std::nullopt, {});
  }
  if (step % manifest_->state_root_every == 0) {
    round.root_pending = true;
    StartJob({.purpose = Purpose::kRoot, .step = step, .accuser = {}, .target = {}},
             RootSpec{state_, layout_});
  }
  StartRecomputations();
}

// A validator recomputes its target's step; every member recomputes what an open case is about.
void PeerMachine::StartRecomputations() {
  if (const auto assignment = round_->sealed.roles.AssignmentOf(self_)) {
    const bool target_in_role = IsMember(InRole(*view_), assignment->target);
    if (target_in_role) {
      StartRecomputation({Purpose::kAccuse, assignment->step, self_, assignment->target});
    }
  }
  for (const Case& open : view_->cases) {
    const CaseKey key{open.accuser, open.target, open.accused_step};
    if (open.accuser == self_ || open.target == self_ || my_verdicts_.contains(key)) continue;
    const bool started =
        StartRecomputation({Purpose::kVote, open.accused_step, open.accuser, open.target});
    my_verdicts_[key] =
        started ? std::nullopt : std::optional<wire::Verdict>(wire::Verdict::kAbstain);
  }
}

// False if the step is no longer held or the target proved nothing that was applied.
bool PeerMachine::StartRecomputation(const PendingJob& job) {
  const auto past = past_.find(job.step);
  if (past == past_.end()) return false;
  const auto proof = past->second.proofs.find(job.target);
  if (proof == past->second.proofs.end()) return false;
  RecomputeSpec spec;
  spec.gradient = {job.step, job.target, past->second.state.parameters,
                   BatchSeed(manifest_->run_id, manifest_->training.data,
                             past->second.previous_randomness, job.step, job.target),
                   false};
  spec.tau = past->second.tau;
  spec.eps_g = manifest_->eps_g;
  for (const Column& column : past->second.applied) {
    if (column.part_index >= proof->second.columns.size()) return false;
    const wire::ColumnNumbers& numbers = proof->second.columns[column.part_index];
    if (!numbers.missing) spec.claims.push_back({column, numbers});
  }
  if (spec.claims.empty()) return false;
  ++round_->recomputations_pending;
  StartJob(job, std::move(spec));
  return true;
}

// --- own work -----------------------------------------------------------------------------------

void PeerMachine::OnGradient(const GradientResult& result) {
  StartJob({.purpose = Purpose::kPack, .step = CurrentStep(), .accuser = {}, .target = {}},
           PackSpec{result.gradient, round_->sealed.roles.parts, true});
}

void PeerMachine::OnPacked(const PackResult& result) {
  Round& round = *round_;
  round.parts = result.parts;
  round.times.compute_ns = (now_ - mark_).ns;
  mark_ = now_;
  std::vector<Digest> roots;
  for (const SharedBlob& part : round.parts) roots.push_back(part->root);
  PrepareCommit(crypto::MerkleRoot(roots), roots);
}

void PeerMachine::PrepareCommit(std::optional<Digest> gradient_root,
                                const std::vector<Digest>& part_roots) {
  const Round& round = *round_;
  wire::Commit commit;
  commit.coin_count = round.coin_count;
  commit.coins_root = crypto::MerkleRoot(CoinCommitments());
  commit.gradient_root = gradient_root;
  std::vector<Draft> drafts;
  drafts.push_back(
      MakeDraft(SlotOf(Phase::kA, MessageType::kCommit), wire::Encode(commit), view_->members));
  for (std::uint32_t j = 0; j < part_roots.size(); ++j) {
    wire::Part part;
    part.header = HeaderOf(round.sealed.roles.parts[j]);
    part.root = part_roots[j];
    part.path = crypto::MerklePath(part_roots, j);
    drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kPart, 0, j), wire::Encode(part),
                               {round.sealed.roles.owners[j]}, round.parts[j]));
  }
  Prepare(std::move(drafts));
}

// --- aggregating my part ------------------------------------------------------------------------

void PeerMachine::JudgeParts() {
  Round& round = *round_;
  for (const PeerId& worker : round.sealed.roles.workers) {
    if (round.held.contains(worker) || round.refused.contains(worker)) continue;
    const Inbox::Item* commit = Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0}, worker);
    const Inbox::Item* part = Usable({CurrentStep(), Phase::kA, MessageType::kPart, 0}, worker);
    if (commit == nullptr || part == nullptr) continue;
    if (const auto reason = JudgePart(worker, *commit, *part)) {
      round.refused.insert(worker);
      Suspect(worker, "part", *reason);
    }
  }
  if (round.held.size() + round.refused.size() == round.sealed.roles.workers.size()) {
    round.parts_closed = true;
  }
}

std::optional<std::string> PeerMachine::JudgePart(const PeerId& worker, const Inbox::Item& commit,
                                                  const Inbox::Item& item) {
  Round& round = *round_;
  const std::uint32_t index = *round.my_part;
  if (commit.rival != nullptr || item.rival != nullptr) return "equivocated";
  const auto commitment = wire::DecodeCommit(commit.message.envelope.body);
  const auto part = wire::DecodePart(item.message.envelope.body);
  if (!commitment.ok() || !commitment->gradient_root) return "sent a COMMIT without a gradient";
  if (!part.ok()) return "sent a malformed PART: " + base::MessageOf(part.status());
  if (item.message.envelope.slot.iteration != index) return "sent a part that I do not aggregate";
  const PartRange& range = round.sealed.roles.parts[index];
  if (part->header != HeaderOf(range)) return "sent a part of another type, codec or shape";
  if (part->root != item.blob->root) return "sent bytes that are not under the part's root";
  if (!crypto::VerifyMerklePath(*commitment->gradient_root, part->root, index,
                                round.sealed.roles.parts.size(), part->path)) {
    return "sent a part that is not under its COMMIT";
  }
  if (!HoldsFiniteFloats(*item.blob, range.size()))
    return "sent a part with NaN, Inf or a wrong length";
  round.held.emplace(worker, Round::HeldPart{item.blob, part->root, commit.message.digest});
  return std::nullopt;
}

void PeerMachine::TryAggregate() {
  Round& round = *round_;
  if (!round.my_part || round.aggregation_started) return;
  JudgeParts();
  if (!round.parts_closed) return;
  round.aggregation_started = true;
  if (round.held.empty()) return PrepareAggregate(nullptr);
  AggregateSpec spec;
  for (const auto& [worker, held] : round.held) spec.parts.push_back(held.blob);
  spec.clip = manifest_->clip;
  spec.tau = round.sealed.tau;
  spec.eps = manifest_->eps;
  StartJob({.purpose = Purpose::kAggregate, .step = CurrentStep(), .accuser = {}, .target = {}},
           std::move(spec));
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
    leaves.push_back(held.root);
    commits.push_back(held.commit);
  }
  wire::Aggregate aggregate;
  aggregate.part_index = index;
  aggregate.result_root = result == nullptr ? Digest{} : result->root;
  aggregate.included = BitmapOf(senders, view_->members);
  aggregate.leaves_root = crypto::MerkleRoot(leaves);
  aggregate.commits_root = SetRoot(commits);

  std::vector<Draft> drafts;
  drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kAggregate), wire::Encode(aggregate),
                             view_->members));
  if (result != nullptr) {
    const wire::Result body{HeaderOf(round.sealed.roles.parts[index]), result->root};
    drafts.push_back(MakeDraft(SlotOf(Phase::kA, MessageType::kResult, 0, index),
                               wire::Encode(body), view_->members, result));
  }
  Prepare(std::move(drafts));
}

// --- seal A -------------------------------------------------------------------------------------

bool PeerMachine::TrySealA() {
  TryAggregate();
  const std::vector<PeerId>& members = view_->members;
  std::optional<SealVector> vector = SealVector(2 * members.size());
  for (std::size_t i = 0; i < members.size() && vector; ++i) {
    const SealEntry commit =
        EntryFor({CurrentStep(), Phase::kA, MessageType::kCommit, 0}, members[i]);
    const SealEntry aggregate =
        EntryFor({CurrentStep(), Phase::kA, MessageType::kAggregate, 0}, members[i]);
    const bool owner = round_->sealed.roles.PartOwnedBy(members[i]).has_value();
    if (commit.state == SealEntry::State::kAbsent ||
        (owner && aggregate.state == SealEntry::State::kAbsent)) {
      vector.reset();
    } else {
      (*vector)[i] = commit;
      // An AGG of a member that owns no part says nothing and is not sealed.
      if (owner) (*vector)[members.size() + i] = aggregate;
    }
  }
  if (vector && !own_vector_) {
    round_->times.aggregate_ns += (now_ - mark_).ns;
    mark_ = now_;
  }
  if (!DriveSeal(Phase::kA, 0, vector)) return false;
  TakeSealA();
  return true;
}

// As many coins as the view asks for; a gradient from workers and from nobody else.
bool PeerMachine::CommitIsComplete(const PeerId& member, const wire::Commit& commit) const {
  return commit.coin_count == round_->coin_count &&
         commit.gradient_root.has_value() == round_->sealed.roles.IsWorker(member);
}

void PeerMachine::TakeSealA() {
  Round& round = *round_;
  SealedStep& sealed = round.sealed;
  const SealVector vector = *own_vector_;
  const std::size_t n = view_->members.size();
  const std::vector<PeerId> in_role = InRole(*view_);
  for (std::size_t i = 0; i < n; ++i) {
    const PeerId& member = view_->members[i];
    const auto owned = sealed.roles.PartOwnedBy(member);
    bool faulty = vector[i].state != SealEntry::State::kPresent;
    if (faulty) {
      round.faults.emplace(member, "signed two different COMMITs of one slot");
    } else {
      const auto& item = *Usable({CurrentStep(), Phase::kA, MessageType::kCommit, 0}, member);
      sealed.commit_digests[member] = item.message.digest;
      auto body = wire::DecodeCommit(item.message.envelope.body);
      if (body.ok() && CommitIsComplete(member, *body)) {
        sealed.commits.emplace(member, std::move(body).value());
      } else {
        // Sealed and signed, so all see the same bytes, and no honest peer signs such.
        round.faults.emplace(member, "its COMMIT is malformed");
      }
    }
    if (owned && vector[n + i].state != SealEntry::State::kPresent) {
      faulty = true;
      round.faults.emplace(member, "signed two different AGGs of one slot");
    } else if (owned) {
      const auto& item = *Usable({CurrentStep(), Phase::kA, MessageType::kAggregate, 0}, member);
      auto body = wire::DecodeAggregate(item.message.envelope.body);
      if (!body.ok() || body->part_index != *owned) {
        round.faults.emplace(member, "its AGG is malformed");
      } else if (!body->result_root.is_zero()) {
        sealed.aggregates[*owned] = *body;
      }
    }
    // Members in open cases are counted with their pair already.
    if (faulty && IsMember(in_role, member)) ++sealed.faulty_in_a;
  }
  round.entry_b =
      DecisionDigest(SlotOf(Phase::kA, MessageType::kEcho), EchoOf(vector).vector, round.entry_a);
  out_->Add(Observe{Sealed{CurrentStep(), static_cast<std::uint8_t>(Phase::kA), round.entry_b}});
  stage_ = Stage::kReveal;
  BeginPhase();
  if (MustReveal(self_)) PrepareReveal();
}

}  // namespace ostraka::protocol
