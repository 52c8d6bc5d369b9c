#include "node/protocol/parts/duties.h"

#include <algorithm>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/sync/widening.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {

using wire::Case;
using wire::CaseId;
using wire::CaseKind;
using wire::Verdict;

// --- gradients ----------------------------------------------------------------------------------

namespace {

// Nullopt if no COMMIT of the worker is sealed that names a gradient and its parameters.
std::optional<RecomputeSpec::Committed> CommittedBy(const PastStep& past, const PeerId& worker) {
  const auto commit = past.commits.find(worker);
  if (commit == past.commits.end()) return std::nullopt;
  const wire::Commit& body = commit->second;
  if (!body.gradient_root || !body.parameters_root) return std::nullopt;
  return RecomputeSpec::Committed{*body.gradient_root, *body.parameters_root};
}

}  // namespace

GradientSpec Duties::GradientOf(const PastStep& past, std::uint64_t step,
                                const PeerId& worker) const {
  return {.step = step,
          .owner = worker,
          .parameters = past.parameters,
          .batch_seed = BatchSeed(manifest_->run_id, manifest_->training.data,
                                  past.previous_randomness, step, worker)};
}

std::vector<RecomputeSpec::Other> Duties::OtherSteps(std::uint64_t step,
                                                     const PeerId& target) const {
  std::vector<RecomputeSpec::Other> others;
  for (const std::uint64_t other : {step + 1, step + 2, step - 1, step - 2, step - 3, step - 4}) {
    const PastStep* past = chain_->Past(other);  // null also where a difference wraps around
    if (past == nullptr) continue;
    const auto committed = CommittedBy(*past, target);
    if (!committed) continue;
    others.push_back(
        {.gradient = GradientOf(*past, other, target), .parts = {}, .committed = *committed});
    for (const Column& column : past->columns) others.back().parts.push_back(column.range);
  }
  return others;
}

std::optional<RecomputeSpec> Duties::Vote(const CaseId& about) const {
  auto spec = Recomputation(about.step, about.target);
  if (spec && spec->committed) spec->others = OtherSteps(about.step, about.target);
  return spec;
}

std::optional<RecomputeSpec> Duties::Recomputation(std::uint64_t step, const PeerId& target) const {
  const PastStep* past = chain_->Past(step);
  if (past == nullptr) return std::nullopt;
  const auto proven = past->NumbersOf(target);
  if (!proven) return std::nullopt;
  RecomputeSpec spec;
  spec.gradient = GradientOf(*past, step, target);
  spec.tau = past->tau;
  spec.eps_g = manifest_->eps_g;
  if (manifest_->compute_profile == kExact) {
    spec.committed = CommittedBy(*past, target);
    if (!spec.committed) return std::nullopt;
  }
  for (const Column& column : past->columns) {
    const wire::ColumnNumbers& numbers = (*proven)[column.part_index];
    const bool applied = past->fates[column.part_index] == wire::ColumnFate::kApplied;
    if (applied && column.result == nullptr) return std::nullopt;
    spec.claims.push_back({column, numbers});
    // Not every member has the result of a void column, and all must judge alike.
    if (!applied || numbers.missing) spec.claims.back().column.result = nullptr;
  }
  if (spec.claims.empty()) return std::nullopt;
  return spec;
}

bool Duties::MayVote(const CaseId& about) const {
  return !verdicts_.contains(about) && about.accuser != self_ && about.target != self_;  // D1
}

std::vector<CaseId> Duties::GradientCases() const {
  std::vector<CaseId> cases;
  for (const Case& open : chain_->head().cases) {
    if (open.id.kind == CaseKind::kGradient && MayVote(open.id)) cases.push_back(open.id);
  }
  return cases;
}

// --- V1 -----------------------------------------------------------------------------------------

void Duties::BeginCrossCheck(std::uint64_t step) { cross_checking_ = step; }

void Duties::ForgetCrossCheck() {
  naming_.reset();
  cross_checking_.reset();
}

bool Duties::OnCrossChecked(std::uint64_t step, const std::vector<PeerId>& liars) {
  if (cross_checking_ != step) return false;
  cross_checking_.reset();
  const PastStep* past = chain_->Past(step);
  OSTRAKA_CHECK(past != nullptr);
  const std::vector<PeerId>& members = chain_->head().members;
  for (const PeerId& liar : liars) {
    // A liar that is removed already owes no answer, but clears this member of having failed the
    // sum itself.
    if (naming_ && (IsMember(members, naming_->target) || !IsMember(members, liar))) continue;
    for (const Column& column : past->columns) {
      if (past->parts.contains({column.part_index, liar})) {
        naming_ = wire::Naming{liar, step, column.part_index};
      }
    }
  }
  return true;
}

// --- exhibits -----------------------------------------------------------------------------------

PartKey Duties::ExhibitOf(const CaseId& id) {
  return {id.column, id.kind == CaseKind::kCover ? id.accuser : id.target};
}

bool Duties::ExhibitMissing(const Case& open) const {
  if (open.id.kind == CaseKind::kGradient || !MayVote(open.id)) return false;
  const PastStep* past = chain_->Past(open.id.step);
  if (past == nullptr || open.id.column >= past->columns.size()) return false;
  if (past->columns[open.id.column].result == nullptr) return false;
  const PartKey exhibit = ExhibitOf(open.id);
  return past->proofs.contains(exhibit.author) && !past->parts.contains(exhibit);
}

bool Duties::AwaitsExhibits() const {
  const auto& cases = chain_->head().cases;
  return std::any_of(cases.begin(), cases.end(),
                     [this](const Case& open) { return ExhibitMissing(open); });
}

std::vector<Duties::Ask> Duties::AskForExhibits() {
  const std::vector<PeerId>& members = chain_->head().members;
  std::vector<Ask> asks;
  for (const Case& open : chain_->head().cases) {
    if (!ExhibitMissing(open)) continue;
    const PartKey exhibit = ExhibitOf(open.id);
    const std::size_t attempt = exhibit_attempts_ % WideningSweep(members.size());
    const auto [first, count] = WideningAt(attempt, members.size());
    Ask ask{{}, open.id.step, exhibit};
    ask.sources.insert(open.id.kind == CaseKind::kCover ? open.id.target : open.id.accuser);
    for (std::size_t k = first; k < first + count; ++k) {
      ask.sources.insert(members[(exhibit.column + k) % members.size()]);
    }
    asks.push_back(std::move(ask));
  }
  exhibit_attempts_ = asks.empty() ? 0 : exhibit_attempts_ + 1;
  return asks;
}

bool Duties::IsExhibit(const wire::Envelope& part, const SharedBlob& blob) const {
  const wire::Slot& slot = part.slot;
  const PartKey key{slot.iteration, part.sender};
  const auto& cases = chain_->head().cases;
  const bool wanted = std::any_of(cases.begin(), cases.end(), [&](const Case& open) {
    return open.id.step == slot.step && ExhibitMissing(open) && ExhibitOf(open.id) == key;
  });
  if (!wanted) return false;
  const PastStep& past = *chain_->Past(slot.step);
  const auto commit = past.commits.find(key.author);
  const auto body = wire::DecodePart(part.body);
  if (commit == past.commits.end() || !commit->second.gradient_root || !body.ok()) return false;
  return body->root == blob->root &&
         crypto::VerifyMerklePath(*commit->second.gradient_root, body->root, key.column,
                                  past.columns.size(), body->path) &&
         HoldsFiniteFloats(*blob, past.columns[key.column].range.size());
}

std::vector<std::pair<CaseId, CrossCheckSpec>> Duties::ExhibitsToJudge() {
  std::vector<std::pair<CaseId, CrossCheckSpec>> jobs;
  for (const Case& open : chain_->head().cases) {
    if (open.id.kind == CaseKind::kGradient || !MayVote(open.id)) continue;
    const PastStep* past = chain_->Past(open.id.step);
    if (past == nullptr) continue;
    const PartKey exhibit = ExhibitOf(open.id);
    const auto part = past->parts.find(exhibit);
    const auto proven = past->NumbersOf(exhibit.author);
    if (part == past->parts.end() || !proven) continue;
    if (past->columns[exhibit.column].result == nullptr) continue;
    const wire::ColumnNumbers& numbers = (*proven)[exhibit.column];
    CrossCheckSpec spec;
    spec.column = past->columns[exhibit.column];
    spec.tau = past->tau;
    if (base::Planted(base::Bug::kEvidenceOfAnotherStep)) {
      spec.column.direction_seed = chain_->head().decision;
    }
    if (!numbers.missing) spec.claims.push_back({exhibit.author, part->second.blob, numbers});
    BeginVote(open.id, true);
    jobs.emplace_back(open.id, std::move(spec));
  }
  return jobs;
}

// --- votes --------------------------------------------------------------------------------------

void Duties::BeginVote(const CaseId& about, bool begun) {
  const bool fresh =
      verdicts_.emplace(about, begun ? std::nullopt : std::optional(Verdict::kAbstain)).second;
  OSTRAKA_CHECK(fresh);  // D1
}

void Duties::TakeVerdict(const CaseId& about, const JobResult& result) {
  const auto verdict = verdicts_.find(about);
  if (verdict == verdicts_.end()) return;
  if (const auto* checked = std::get_if<CrossCheckResult>(&result)) {
    verdict->second = checked->liars.empty() ? Verdict::kInnocent : Verdict::kGuilty;
    return;
  }
  const auto& recomputed = std::get<RecomputeResult>(result);
  verdict->second = recomputed.unsure     ? Verdict::kAbstain
                    : !recomputed.convict ? Verdict::kInnocent
                    : recomputed.twice    ? Verdict::kTwice
                                          : Verdict::kGuilty;
}

void Duties::StateIn(wire::Proof& proof) const {
  proof.naming = naming_;
  for (const Case& open : chain_->head().cases) {
    const auto verdict = verdicts_.find(open.id);
    if (verdict == verdicts_.end() || !verdict->second) continue;
    if (*verdict->second == Verdict::kAbstain) continue;
    if (proof.votes.size() < wire::kMaxVotes) proof.votes.push_back({open.id, *verdict->second});
  }
}

void Duties::OnBlock(const wire::Block& block) {
  std::erase_if(verdicts_, [&](const auto& verdict) {
    return std::none_of(block.cases.begin(), block.cases.end(),
                        [&](const Case& open) { return verdict.first == open.id; });
  });
}

void Duties::Clear() {
  ForgetCrossCheck();
  verdicts_.clear();
}

}  // namespace ostraka::protocol
