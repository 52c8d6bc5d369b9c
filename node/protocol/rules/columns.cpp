#include "node/protocol/rules/columns.h"

#include <algorithm>
#include <cmath>

#include "crypto/set_root.h"
#include "node/base/planted.h"
#include "node/protocol/ground/numbers.h"
#include "node/protocol/rules/sizes.h"
#include "node/wire/bitmap.h"

namespace ostraka::protocol {
namespace {

const wire::ColumnNumbers* NumbersIn(const SealedStep& sealed, const PeerId& worker,
                                     std::size_t column) {
  const auto proof = sealed.proofs.find(worker);
  if (proof == sealed.proofs.end()) return nullptr;
  if (proof->second.columns.size() != sealed.roles.parts.size()) return nullptr;
  const wire::ColumnNumbers& numbers = proof->second.columns[column];
  return numbers.missing ? nullptr : &numbers;
}

// True iff every sender is a worker with a sealed COMMIT and those COMMITs hash to the AGG's root.
bool SendersAreSealed(const SealedStep& sealed, const wire::Aggregate& aggregate,
                      const std::vector<PeerId>& senders) {
  std::vector<Digest> commits;
  for (const PeerId& sender : senders) {
    const auto digest = sealed.commit_digests.find(sender);
    if (digest == sealed.commit_digests.end() || !sealed.roles.IsWorker(sender)) return false;
    if (sealed.astray.contains(sender)) return false;
    commits.push_back(digest->second);
  }
  return crypto::SetRoot(commits) == aggregate.commits_root;
}

std::uint32_t FaultyOutside(const SealedStep& sealed, const std::vector<PeerId>& senders) {
  return static_cast<std::uint32_t>(
      std::count_if(sealed.faulty_in_a.begin(), sealed.faulty_in_a.end(),
                    [&](const PeerId& faulty) { return !IsMember(senders, faulty); }));
}

ColumnFate JudgeColumn(const SealedStep& sealed, const Block& head, std::size_t column) {
  const auto& aggregate = sealed.aggregates[column];
  if (!sealed.GivesResult(column) || aggregate->part_index != column) {
    return ColumnFate::kNoAggregate;
  }
  const auto senders = IncludedIn(sealed, head, column);
  if (!senders || !SendersAreSealed(sealed, *aggregate, *senders)) return ColumnFate::kBadSenders;
  const std::uint32_t b = FaultsAmongWorkers(head, FaultyOutside(sealed, *senders));
  const bool few = senders->size() < 2 * std::size_t{b} + 1;
  if (few && !base::Planted(base::Bug::kFewSendersSuffice)) return ColumnFate::kTooFewSenders;

  for (const PeerId& sender : *senders) {
    const wire::ColumnNumbers* numbers = NumbersIn(sealed, sender, column);
    if (numbers == nullptr) return ColumnFate::kMissingNumbers;
    // Evidence against whoever stated them, and none of a sum or of the next tau: NaN orders
    // nothing.
    if (!InHonestRange(*numbers, sealed.roles.parts[column].size(), sealed.tau)) {
      return ColumnFate::kMissingNumbers;
    }
  }
  return ColumnFate::kApplied;
}

std::vector<double> SizesOf(const SealedStep& sealed, const std::vector<PeerId>& senders,
                            std::size_t column) {
  std::vector<double> sizes;
  for (const PeerId& sender : senders) sizes.push_back(NumbersIn(sealed, sender, column)->size);
  return sizes;
}

bool SumsVanish(const SealedStep& sealed, const std::vector<PeerId>& senders, std::size_t column,
                double tolerance) {
  for (std::size_t k = 0; k < wire::kDirections; ++k) {
    double sum = 0;
    for (const PeerId& sender : senders) sum += NumbersIn(sealed, sender, column)->s[k];
    if (!(std::abs(sum) <= tolerance)) return false;
  }
  return true;
}

// V3: more than half of the norms are beyond Delta_max. Off while that is zero.
bool NormsAreFar(const SealedStep& sealed, const std::vector<PeerId>& senders, std::size_t column,
                 double delta_max) {
  const auto is_far = [&](const PeerId& sender) {
    return !(NumbersIn(sealed, sender, column)->norm <= delta_max);
  };
  const auto far_away = std::count_if(senders.begin(), senders.end(), is_far);
  return delta_max > 0 && static_cast<std::size_t>(far_away) * 2 > senders.size();
}

ColumnFate JudgeResult(const SealedStep& sealed, const Manifest& manifest,
                       const std::vector<PeerId>& senders, std::size_t column,
                       const ResultSize& result) {
  // Without clipping the identities that sizes and sums test do not hold; such runs are for
  // comparison only.
  if (manifest.clip) {
    const SizeRule rule{.tau = sealed.tau,
                        .eps = manifest.eps,
                        .result_norm = result.norm,
                        .quantum = result.quantum};
    const std::vector<double> sizes = SizesOf(sealed, senders, column);
    const ColumnFate fate = JudgeSizes(sizes, rule);
    if (fate != ColumnFate::kApplied) return fate;
    const double tolerance =
        SumTolerance(senders.size(), manifest.eps, result, sealed.roles.parts[column].size());
    if (!SumsVanish(sealed, senders, column, tolerance)) return ColumnFate::kSumCheck;
  }
  return NormsAreFar(sealed, senders, column, manifest.delta_max) ? ColumnFate::kNormCheck
                                                                  : ColumnFate::kApplied;
}

}  // namespace

bool SealedStep::GivesResult(std::size_t column) const {
  return column < aggregates.size() && aggregates[column] &&
         !aggregates[column]->result_root.is_zero();
}

std::optional<std::vector<PeerId>> IncludedIn(const SealedStep& sealed, const Block& head,
                                              std::size_t column) {
  if (column >= sealed.aggregates.size() || !sealed.aggregates[column]) return std::nullopt;
  return wire::SendersOf(sealed.aggregates[column]->included, head.members);
}

std::vector<ColumnFate> JudgeWithoutAggregates(const SealedStep& sealed, const Block& head) {
  std::vector<ColumnFate> fates;
  fates.reserve(sealed.roles.parts.size());
  for (std::size_t j = 0; j < sealed.roles.parts.size(); ++j) {
    fates.push_back(JudgeColumn(sealed, head, j));
  }
  return fates;
}

void JudgeAggregates(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                     const std::vector<ResultSize>& results, std::vector<ColumnFate>& fates) {
  for (std::size_t j = 0; j < fates.size(); ++j) {
    if (fates[j] != ColumnFate::kApplied) continue;
    const auto senders = *wire::SendersOf(sealed.aggregates[j]->included, head.members);
    fates[j] = JudgeResult(sealed, manifest, senders, j, results[j]);
  }
}

bool OwesAName(ColumnFate fate) {
  return fate == ColumnFate::kSumCheck || fate == ColumnFate::kSizeCheck;
}

void SealedStep::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, step, tau, commit_digests, aggregates, faulty_in_a, parameters_root, astray);
}

}  // namespace ostraka::protocol
