#include "node/protocol/lasting/duties.h"

#include <algorithm>

#include "crypto/merkle.h"
#include "node/base/check.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/rules/standing.h"
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
std::optional<RecomputeSpec::Committed> CommittedBy(const PastStep& past, const PeerId& worker,
                                                    Codec codec) {
  const auto commit = past.commits.find(worker);
  if (commit == past.commits.end()) return std::nullopt;
  const wire::Commit& body = commit->second;
  if (!body.gradient_root || !body.parameters_root) return std::nullopt;
  RecomputeSpec::Committed committed{*body.gradient_root, *body.parameters_root};
  for (const Column& column : past.columns) committed.parts.push_back(column.range);
  committed.codec = codec;
  return committed;
}

}  // namespace

GradientSpec Duties::GradientOf(const PastStep& past, std::uint64_t step,
                                const PeerId& worker) const {
  return GradientDue(*manifest_, past.batches, step, worker, past.parameters);
}

std::optional<RecomputeSpec> Duties::OtherStep(std::uint64_t step, const PeerId& target) const {
  const PastStep* past = chain_.Past(step);
  if (past == nullptr || past->parameters == nullptr) return std::nullopt;
  RecomputeSpec spec;
  spec.committed = CommittedBy(*past, target, manifest_->codecs.parts);
  if (!spec.committed) return std::nullopt;
  spec.gradient = GradientOf(*past, step, target);
  spec.tau = past->tau;
  if (auto claims = ClaimsOf(*past, target)) spec.claims = *std::move(claims);
  return spec;
}

std::optional<std::vector<RecomputeSpec::Claim>> Duties::ClaimsOf(const PastStep& past,
                                                                  const PeerId& worker) {
  const auto proven = past.NumbersOf(worker);
  if (!proven) return std::nullopt;
  std::vector<RecomputeSpec::Claim> claims;
  for (const Column& column : past.columns) {
    const wire::ColumnNumbers& numbers = (*proven)[column.part_index];
    const bool applied = past.fates[column.part_index] == wire::ColumnFate::kApplied;
    if (applied && column.result == nullptr) return std::nullopt;
    claims.push_back({column, numbers});
    // Not every member has the result of a void column, and all must judge alike.
    if (!applied || numbers.missing) claims.back().column.result = nullptr;
  }
  return claims;
}

std::optional<RecomputeSpec> Duties::Recomputation(std::uint64_t step, const PeerId& target) const {
  const PastStep* past = chain_.Past(step);
  if (past == nullptr || past->parameters == nullptr) return std::nullopt;
  auto claims = ClaimsOf(*past, target);
  if (!claims || claims->empty()) return std::nullopt;
  RecomputeSpec spec;
  spec.gradient = GradientOf(*past, step, target);
  spec.tau = past->tau;
  spec.eps_g = manifest_->eps_g;
  if (manifest_->compute_profile == kExact) {
    spec.committed = CommittedBy(*past, target, manifest_->codecs.parts);
    if (!spec.committed) return std::nullopt;
  }
  spec.claims = *std::move(claims);
  return spec;
}

bool Duties::MayVote(const CaseId& about) const {
  return !verdicts_.contains(about) && about.accuser != self_ && about.target != self_;  // D1
}

std::vector<CaseId> Duties::GradientCases() const {
  std::vector<CaseId> cases;
  for (const Case& open : chain_.head().cases) {
    const bool asked = open.id.kind == CaseKind::kGradient && HasBegun(open, chain_.head());
    if (asked && MayVote(open.id)) cases.push_back(open.id);
  }
  return cases;
}

// --- V1 -----------------------------------------------------------------------------------------

void Duties::BeginCrossCheck(std::uint64_t step) { cross_checking_ = step; }

void Duties::ForgetCrossCheck() {
  namings_.clear();
  cross_checking_.reset();
}

bool Duties::OnCrossChecked(std::uint64_t step, const std::vector<PeerId>& liars) {
  if (cross_checking_ != step) return false;
  cross_checking_.reset();
  const PastStep* past = chain_.Past(step);
  OSTRAKA_CHECK(past != nullptr);
  for (const PeerId& liar : liars) {
    for (const Column& column : past->columns) {
      if (!past->parts.contains({column.part_index, liar})) continue;
      namings_.push_back({liar, step, column.part_index});
      break;
    }
  }
  return true;
}

// A PROOF names one liar. A leaver comes first, as it goes with the next block unless it is
// named, then members. A liar that is removed already owes no answer, but clears this member of
// having failed the sum itself. Owners share out those that are alike. Attack: five liars left
// together; every owner named the same one, so one of them was never named.
//
// Returns the namings of the first of these classes that has some.
std::vector<wire::Naming> Duties::NamingsInHaste() const {
  const Block& head = chain_.head();
  const auto rank = [&head](const wire::Naming& naming) {
    return IsMember(head.leaving, naming.target)   ? 2
           : IsMember(head.members, naming.target) ? 1
                                                   : 0;
  };
  std::vector<wire::Naming> first;
  for (const wire::Naming& naming : namings_) {
    if (!first.empty() && rank(naming) > rank(first.front())) first.clear();
    if (first.empty() || rank(naming) == rank(first.front())) first.push_back(naming);
  }
  return first;
}

// Its place among the owners that are no liars themselves: they share the namings out. If all lied
// in all columns, these name all of them, as they are more. [By its place among the members each
// named one at random, and of three one escaped in every fourth swarm.]
std::optional<wire::Naming> Duties::NamingOfOne() const {
  const std::vector<wire::Naming> first = NamingsInHaste();
  if (first.empty()) return std::nullopt;
  const auto shares = [&](const PeerId& owner) {
    return std::none_of(namings_.begin(), namings_.end(),
                        [&](const wire::Naming& naming) { return naming.target == owner; });
  };
  const auto& columns = chain_.head().aggregated;
  const auto place = std::count_if(
      columns.begin(), columns.end(),
      [&](const Block::Column& column) { return column.owner < self_ && shares(column.owner); });
  return first[static_cast<std::size_t>(place) % first.size()];
}

// --- exhibits -----------------------------------------------------------------------------------

PartKey Duties::ExhibitOf(const CaseId& id) {
  return {id.column, id.kind == CaseKind::kCover ? id.accuser : id.target};
}

bool Duties::ExhibitMissing(const Case& open) const {
  if (open.id.kind == CaseKind::kGradient || !MayVote(open.id)) return false;
  const PastStep* past = chain_.Past(open.id.step);
  if (past == nullptr || open.id.column >= past->columns.size()) return false;
  if (past->columns[open.id.column].result == nullptr) return false;
  const PartKey exhibit = ExhibitOf(open.id);
  return past->proofs.contains(exhibit.author) && !past->parts.contains(exhibit);
}

bool Duties::AwaitsExhibits() const {
  const auto& cases = chain_.head().cases;
  return std::any_of(cases.begin(), cases.end(),
                     [this](const Case& open) { return ExhibitMissing(open); });
}

std::vector<Duties::Ask> Duties::AskForExhibits() {
  const std::vector<PeerId>& members = chain_.head().members;
  std::vector<Ask> asks;
  for (const Case& open : chain_.head().cases) {
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

bool Duties::IsExhibit(const wire::SignedEnvelope& part, const SharedBlob& blob) const {
  const wire::Slot& slot = part.envelope.slot;
  const PartKey key{slot.iteration, part.envelope.sender};
  const auto& cases = chain_.head().cases;
  const bool wanted = std::any_of(cases.begin(), cases.end(), [&](const Case& open) {
    return open.id.step == slot.step && ExhibitMissing(open) && ExhibitOf(open.id) == key;
  });
  if (!wanted) return false;
  const PastStep& past = *chain_.Past(slot.step);
  const auto commit = past.commits.find(key.author);
  const auto* body = part.As<wire::Part>();
  if (commit == past.commits.end() || !commit->second.gradient_root || body == nullptr)
    return false;
  return body->root == blob->root &&
         crypto::VerifyMerklePath(*commit->second.gradient_root, body->root, key.column,
                                  past.columns.size(), body->path) &&
         HoldsValues(manifest_->codecs.parts, blob->data, past.columns[key.column].range.size());
}

std::vector<std::pair<CaseId, CrossCheckSpec>> Duties::ExhibitsToJudge() {
  std::vector<std::pair<CaseId, CrossCheckSpec>> jobs;
  for (const Case& open : chain_.head().cases) {
    if (open.id.kind == CaseKind::kGradient || !MayVote(open.id)) continue;
    const PastStep* past = chain_.Past(open.id.step);
    if (past == nullptr) continue;
    const PartKey exhibit = ExhibitOf(open.id);
    const auto part = past->parts.find(exhibit);
    const auto proven = past->NumbersOf(exhibit.author);
    if (part == past->parts.end() || !proven) continue;
    if (past->columns[exhibit.column].result == nullptr) continue;
    const wire::ColumnNumbers& numbers = (*proven)[exhibit.column];
    CrossCheckSpec spec;
    spec.column = past->columns[exhibit.column];
    spec.codec = manifest_->codecs.parts;
    spec.tau = past->tau;
    if (base::Planted(base::Bug::kEvidenceOfAnotherStep)) {
      spec.column.direction_seed = chain_.head().decision;
    }
    if (!numbers.missing) spec.claims.push_back({exhibit.author, part->second.blob, numbers});
    BeginVote(open.id, true);
    jobs.emplace_back(open.id, std::move(spec));
  }
  return jobs;
}

// --- votes --------------------------------------------------------------------------------------

void Duties::BeginVote(const CaseId& about, bool begun) {
  Finding finding;
  if (!begun) finding.verdict = Verdict::kAbstain;
  const bool fresh = verdicts_.emplace(about, std::move(finding)).second;
  OSTRAKA_CHECK(fresh);  // D1
}

void Duties::TakeVerdict(const CaseId& about, const JobResult& result) {
  const auto known = verdicts_.find(about);
  if (known == verdicts_.end()) return;
  Finding& finding = known->second;
  if (const auto* checked = std::get_if<CrossCheckResult>(&result)) {
    finding.verdict = checked->liars.empty() ? Verdict::kInnocent : Verdict::kGuilty;
    return;
  }
  const auto& recomputed = std::get<RecomputeResult>(result);
  finding.verdict = recomputed.unsure    ? Verdict::kAbstain
                    : recomputed.convict ? Verdict::kGuilty
                                         : Verdict::kInnocent;
  finding.false_gradient = recomputed.false_gradient;
  const bool erred = HasErredBefore(chain_.head(), about.target, about.step);
  if (finding.verdict != Verdict::kGuilty || manifest_->compute_profile != kExact || erred) return;
  const std::uint64_t s = about.step;
  const LookRange looks = LooksIn(*manifest_);
  // Those after it first; what wraps around is not held.
  for (std::uint64_t k = looks.before; k > 0; --k) finding.to_look_at.push_back(s - k);
  for (std::uint64_t k = looks.after; k > 0; --k) finding.to_look_at.push_back(s + k);
}

std::optional<Duties::Look> Duties::NextLook() {
  for (auto& [about, finding] : verdicts_) {
    OSTRAKA_CHECK(!finding.looking);  // one at a time
    while (!finding.to_look_at.empty()) {
      const std::uint64_t step = finding.to_look_at.back();
      finding.to_look_at.pop_back();
      auto spec = OtherStep(step, about.target);
      if (!spec) continue;
      finding.looking = true;
      return Look{about, step, *std::move(spec)};
    }
  }
  return std::nullopt;
}

void Duties::TakeLook(const CaseId& about, const JobResult& result) {
  const auto known = verdicts_.find(about);
  if (known == verdicts_.end()) return;
  known->second.looking = false;
  const auto* recomputed = std::get_if<RecomputeResult>(&result);
  if (recomputed == nullptr || recomputed->unsure || !recomputed->convict) return;
  known->second.verdict = Verdict::kTwice;
  known->second.to_look_at.clear();
}

bool Duties::FoundFalseGradient(const CaseId& about) const {
  const auto known = verdicts_.find(about);
  return known != verdicts_.end() && known->second.false_gradient;
}

bool Duties::MayState(const Case& open, const Finding& finding) const {
  if (!finding.verdict || *finding.verdict == Verdict::kAbstain) return false;
  const bool looked = !finding.looking && finding.to_look_at.empty();
  return looked || chain_.head().step + 1 >= open.opened_step + kLookBlocks;  // D4
}

void Duties::StateIn(wire::Proof& proof) const {
  proof.naming = NamingOfOne();
  for (const Case& open : chain_.head().cases) {
    const auto known = verdicts_.find(open.id);
    if (known == verdicts_.end() || !MayState(open, known->second)) continue;
    if (proof.votes.size() < wire::kMaxVotes) {
      proof.votes.push_back({open.id, *known->second.verdict});
    }
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

void Duties::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, verdicts_, namings_, cross_checking_, exhibit_attempts_);
}

}  // namespace ostraka::protocol
