#include "node/protocol/rules/disputes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "node/protocol/rules/lateness.h"
#include "node/protocol/rules/standing.h"
#include "node/wire/bitmap.h"
#include "node/wire/limits.h"

namespace ostraka::protocol {
using wire::Cause;
namespace {

using Pair = WorkerAndAggregator;

// Its COMMIT, sealed and well-formed, promises a part that the owner can use: one of the parameters
// that the owner's COMMIT names too. [In profile exact/1 an owner takes no other part. Where no
// COMMITs agree on the run's parameters, two honest members may differ, and neither owes the other
// anything.]
bool OwesPart(const SealedStep& sealed, const PeerId& worker, const PeerId& owner) {
  if (sealed.astray.contains(worker)) return false;
  const auto commit = sealed.commits.find(worker);
  if (commit == sealed.commits.end() || !commit->second.gradient_root) return false;
  const auto of_owner = sealed.commits.find(owner);
  return of_owner == sealed.commits.end() ||
         of_owner->second.parameters_root == commit->second.parameters_root;
}

// The aggregator says by its sealed AGG that it did not have the worker's part.
bool LeftOut(const SealedStep& sealed, const Block& head, const PeerId& worker,
             std::uint32_t column) {
  const auto included = IncludedIn(sealed, head, column);
  return included && OwesPart(sealed, worker, sealed.roles.owners[column]) &&
         !IsMember(*included, worker);
}

// The worker says by its sealed PROOF that it did not have the column's sealed aggregate.
bool Missed(const SealedStep& sealed, const PeerId& worker, std::uint32_t column) {
  const auto proof = sealed.proofs.find(worker);
  return sealed.GivesResult(column) && proof != sealed.proofs.end() &&
         column < proof->second.columns.size() && proof->second.columns[column].missing;
}

// Members whose PROOF has `states`.
template <typename States>
std::size_t Witnesses(const SealedStep& sealed, const Block& head, States states) {
  std::size_t count = 0;
  for (const auto& [member, proof] : sealed.proofs) {
    if (IsMember(head.members, member) && states(proof.held)) ++count;
  }
  return count;
}

}  // namespace

std::set<Pair> FailedPairs(const SealedStep& sealed, const Block& head) {
  std::set<Pair> failed;
  for (std::uint32_t j = 0; j < sealed.roles.owners.size(); ++j) {
    const PeerId& owner = sealed.roles.owners[j];
    const auto included = IncludedIn(sealed, head, j);
    for (const PeerId& worker : sealed.roles.workers) {
      if (worker == owner) continue;
      const bool left_out =
          included && OwesPart(sealed, worker, owner) && !IsMember(*included, worker);
      if (left_out || Missed(sealed, worker, j)) failed.emplace(worker, owner);
    }
  }
  return failed;
}

std::vector<LivePair> LivePairsOf(const Block& head, const Roles& roles) {
  std::vector<LivePair> pairs;
  for (std::size_t d = 0; d < head.disputes.size(); ++d) {
    const Dispute& dispute = head.disputes[d];
    const auto column = roles.PartOwnedBy(dispute.aggregator);
    if (!column || !roles.IsWorker(dispute.worker)) continue;
    pairs.push_back({d, dispute.worker, dispute.aggregator, *column});
  }
  return pairs;
}

base::Bytes HeldBitmap(const Block& head, const std::set<std::size_t>& parts,
                       const std::set<std::size_t>& results) {
  const std::size_t disputes = head.disputes.size();
  base::Bytes held((2 * disputes + 7) / 8, 0);
  const auto set = [&](std::size_t bit) {
    held[bit / 8] = static_cast<std::uint8_t>(held[bit / 8] | 1U << (bit % 8));
  };
  for (const std::size_t index : parts) set(index);
  for (const std::size_t index : results) set(disputes + index);
  return held;
}

bool HeldPart(const base::Bytes& held, std::size_t index) { return wire::HasBit(held, index); }

bool HeldResult(const base::Bytes& held, std::size_t index, std::size_t disputes) {
  return wire::HasBit(held, disputes + index);
}

void DropWithholders(const SealedStep& sealed, const Block& head, Docket& docket) {
  for (std::uint32_t j = 0; j < sealed.roles.owners.size(); ++j) {
    const auto missed =
        std::count_if(sealed.roles.workers.begin(), sealed.roles.workers.end(),
                      [&](const PeerId& worker) { return Missed(sealed, worker, j); });
    if (static_cast<std::size_t>(missed) <= FaultBound(head.thresholds)) continue;
    docket.Drop(sealed.roles.owners[j], {.cause = Cause::kWithheldAggregate,
                                         .part = j,
                                         .count = static_cast<std::uint64_t>(missed)});
  }
}

void RuleOnLivePairs(const SealedStep& sealed, const Block& head, Docket& docket) {
  const std::size_t bound = FaultBound(head.thresholds);
  for (const LivePair& pair : LivePairsOf(head, sealed.roles)) {
    if (!docket.Stays(pair.worker) || !docket.Stays(pair.aggregator)) continue;
    const auto with = [&](Cause cause, const PeerId& other) {
      return wire::Reason{.cause = cause, .other = other, .part = pair.column};
    };
    if (LeftOut(sealed, head, pair.worker, pair.column)) {
      const auto states = [&](const base::Bytes& held) { return HeldPart(held, pair.index); };
      if (Witnesses(sealed, head, states) > bound) {
        docket.Drop(pair.aggregator, with(Cause::kLeftOutPart, pair.worker));
      } else {
        docket.Drop(pair.worker, with(Cause::kWithheldPart, pair.aggregator));
      }
    } else if (Missed(sealed, pair.worker, pair.column)) {
      const auto states = [&](const base::Bytes& held) {
        return HeldResult(held, pair.index, head.disputes.size());
      };
      if (Witnesses(sealed, head, states) > bound) {
        docket.Drop(pair.worker, with(Cause::kClaimsToMiss, pair.aggregator));
      } else {
        docket.Drop(pair.aggregator, with(Cause::kWithheldFromOne, pair.worker));
      }
    }
  }
  docket.EndPass();
}

std::vector<Dispute> DisputesAfter(const Block& head, std::uint64_t step,
                                   const std::set<Pair>& failed, const std::set<Pair>& late) {
  std::map<Pair, std::uint64_t> since;
  for (const Dispute& dispute : head.disputes) {
    if (step >= dispute.since + kDisputeSteps) continue;
    since.emplace(Pair{dispute.worker, dispute.aggregator}, dispute.since);
  }
  static_assert(kLateDisputeSteps >= kDisputeSteps);
  for (const Pair& pair : late) {
    since.emplace(pair, step + kLateDisputeSteps - kDisputeSteps);
  }
  for (const Pair& pair : failed) since.emplace(pair, step);

  std::vector<Dispute> disputes;
  for (const auto& [pair, from] : since) disputes.push_back({pair.first, pair.second, from});
  return disputes;
}

std::vector<Dispute> KeptDisputes(std::vector<Dispute> disputes,
                                  const std::vector<PeerId>& members) {
  std::erase_if(disputes, [&](const Dispute& dispute) {
    return !IsMember(members, dispute.worker) || !IsMember(members, dispute.aggregator);
  });
  if (disputes.size() <= wire::kMaxDisputes) return disputes;
  std::stable_sort(disputes.begin(), disputes.end(),
                   [](const Dispute& a, const Dispute& b) { return a.since > b.since; });
  disputes.resize(wire::kMaxDisputes);
  std::sort(disputes.begin(), disputes.end(), [](const Dispute& a, const Dispute& b) {
    return std::pair(a.worker, a.aggregator) < std::pair(b.worker, b.aggregator);
  });
  return disputes;
}

bool IsFresh(const Block& head, const PeerId& peer, std::uint64_t step) {
  const Standing* standing = StandingOf(head.standings, peer);
  return standing != nullptr && standing->came_step > 0 && step < standing->came_step + kFreshSteps;
}

void KeepPeak(const Block& head, Block& block) {
  block.peak_t_s = head.peak_t_s;
  block.peak_step = head.peak_step;
  const bool old = block.step >= head.peak_step + kPeakSteps;
  if (block.thresholds.t_s < head.peak_t_s && !old) return;
  block.peak_t_s = std::max(block.thresholds.t_s, head.peak_t_s > 0 ? head.peak_t_s - 1 : 0);
  block.peak_step = block.step;
}

void DropDisputed(const std::vector<Dispute>& disputes, const Block& head, std::uint64_t step,
                  Docket& docket) {
  std::map<PeerId, std::set<PeerId>> with;
  for (const Dispute& dispute : disputes) {
    const PeerId& worker = dispute.worker;
    const PeerId& aggregator = dispute.aggregator;
    if (!docket.Stays(worker) || !docket.Stays(aggregator)) continue;
    const bool worker_fresh = IsFresh(head, worker, step);
    const bool aggregator_fresh = IsFresh(head, aggregator, step);
    if (worker_fresh || !aggregator_fresh) with[worker].insert(aggregator);
    if (aggregator_fresh || !worker_fresh) with[aggregator].insert(worker);
  }
  // At least one, or a single failure would cost a run that bears no fault both its parties.
  const std::size_t borne = std::max(1U, head.peak_t_s);
  for (const auto& [peer, others] : with) {
    if (others.size() <= borne) continue;
    docket.Drop(peer, {.cause = Cause::kTooManyDisputes, .count = others.size()});
  }
  docket.EndPass();
}

void LivePair::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, index, worker, aggregator, column);
}

}  // namespace ostraka::protocol
