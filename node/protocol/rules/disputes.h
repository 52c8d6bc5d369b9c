// Disputes (docs/protocol/removals.md): one of a worker and an aggregator failed to hand over a
// part or a result, and no other member can tell which one.
//
// The first failure of a pair opens a dispute, which lives for 100 steps (1000 if the part was only
// late: lateness.h). Meanwhile the part and the result of the pair go to all members: the worker
// sends its part for that aggregator to every member, and aggregates go to every member anyway. A
// member that holds one in time (D1: within part_timeout; the party that it is owed to waits 2
// Delta longer) forwards it at once, and states in its PROOF that it held it. So if an honest
// member held it, an honest receiving party has it; and if the party that owed it is honest, all
// honest members held it. A second failure therefore has one loser, by the number of members that
// state that they held it:
//   the part is left out    more than the fault bound: the aggregator is dropped, else the worker
//   the result is missing   more than the fault bound: the worker is dropped, else the aggregator
// Honest pairs never fail each other while messages arrive in time. So a peer in dispute with more
// than max(1, peak t_s) peers is faulty, and is dropped: the peak of the last kPeakSteps blocks, as
// its disputes may be as old. A dispute with a fresh member, of less than kFreshSteps, counts for
// that member alone. Attack: far newcomers, one after the other, that are late to one honest
// member.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Dispute;

inline constexpr std::uint64_t kDisputeSteps = 100;
// As long as a dispute can live (kLateDisputeSteps).
inline constexpr std::uint64_t kPeakSteps = 1000;
inline constexpr std::uint64_t kFreshSteps = 1000;

// It came in less than kFreshSteps before `step`.
bool IsFresh(const Block& head, const PeerId& peer, std::uint64_t step);
// The largest t_s of the last kPeakSteps blocks, or a little more, after `block`, whose thresholds
// are set. [After that time the peak falls by one and not to the t_s of the block, as there may
// have been one between the two since.]
void KeepPeak(const Block& head, Block& block);

// A live dispute whose worker and aggregator meet in this step.
struct LivePair {
  std::size_t index = 0;  // in head.disputes
  PeerId worker;
  PeerId aggregator;
  std::uint32_t column = 0;  // owned by the aggregator
  void HashInto(crypto::Hasher& hasher) const;
};
// By index.
std::vector<LivePair> LivePairsOf(const Block& head, const Roles& roles);

// Proof::held of a member that held in time, and forwarded, the parts and results of the head's
// disputes with these indices.
base::Bytes HeldBitmap(const Block& head, const std::set<std::size_t>& parts,
                       const std::set<std::size_t>& results);
bool HeldPart(const base::Bytes& held, std::size_t index);
bool HeldResult(const base::Bytes& held, std::size_t index, std::size_t disputes);

using WorkerAndAggregator = std::pair<PeerId, PeerId>;
// Pairs that fail each other in this step. Nobody is in dispute with itself.
std::set<WorkerAndAggregator> FailedPairs(const SealedStep& sealed, const Block& head);

// --- the passes of a block over its docket (judgement.cpp) ---

// Drops the owner of every column whose aggregate more workers miss than the fault bound. Ends no
// pass.
void DropWithholders(const SealedStep& sealed, const Block& head, Docket& docket);
// Drops the loser of every live pair that failed again.
void RuleOnLivePairs(const SealedStep& sealed, const Block& head, Docket& docket);
// The head's disputes that live on in `step`, and those that pairs in `failed` come into, by
// (worker, aggregator). Pairs in `late` are in dispute for kLateDisputeSteps (lateness.h): their
// `since` lies in the future.
std::vector<Dispute> DisputesAfter(const Block& head, std::uint64_t step,
                                   const std::set<WorkerAndAggregator>& failed,
                                   const std::set<WorkerAndAggregator>& late);
// Drops each peer that `disputes` pair with more than max(1, peak t_s) peers that stay and are not
// fresh, or is fresh itself. Ends the pass.
void DropDisputed(const std::vector<Dispute>& disputes, const Block& head, std::uint64_t step,
                  Docket& docket);
// The disputes whose two parties are `members`; of more than kMaxDisputes the newest.
std::vector<Dispute> KeptDisputes(std::vector<Dispute> disputes,
                                  const std::vector<PeerId>& members);

}  // namespace ostraka::protocol
