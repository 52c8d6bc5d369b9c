// Disputes (protocol.md 6): a worker and an aggregator of whom one failed to hand over a part or a
// result, and nobody else can say which.
//
// A first failure of a pair opens a dispute, which lives for 100 steps (1000 if what failed was
// only late: lateness.h). Meanwhile what the pair
// owes each other goes to all: the worker sends its part for that aggregator to every member, and
// the aggregate goes to every member anyway. A member that holds one in time (D1: within
// part_timeout; whoever is owed it waits 2 Delta longer) forwards it at once, and states in its
// PROOF that it held it. So if an honest member held it, an honest other party has it; and if the
// one who owed it is honest, all honest members held it. A second failure therefore has one loser:
//   the part is left out    more than the faults held it: the aggregator drops, else the worker
//   the result is missing   more than the faults held it: the worker drops, else the aggregator
// Honest pairs never fail each other while messages arrive in time, so a peer in dispute with more
// than t_s peers of the genesis is at fault.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Dispute;

inline constexpr std::uint64_t kDisputeSteps = 100;

// A live dispute whose worker and aggregator meet in this step.
struct LivePair {
  std::size_t index = 0;  // in view.disputes
  PeerId worker;
  PeerId aggregator;
  std::uint32_t column = 0;  // that the aggregator owns
};
// By index.
std::vector<LivePair> LivePairsOf(const Block& view, const Roles& roles);

// Proof::held of one who held in time, and forwarded, the part or the result of the view's disputes
// with these indices.
base::Bytes HeldBitmap(const Block& view, const std::set<std::size_t>& parts,
                       const std::set<std::size_t>& results);
bool HeldPart(const base::Bytes& held, std::size_t index);
bool HeldResult(const base::Bytes& held, std::size_t index, std::size_t disputes);

// --- the passes of a block over its docket (judgement.cpp) ---

// Drops the owner of every column that more workers miss than can be at fault. Ends no pass.
void DropWithholders(const SealedStep& sealed, const Block& view, Docket& docket);
// Drops the loser of every live pair that failed again.
void RuleOnLivePairs(const SealedStep& sealed, const Block& view, Docket& docket);
// This step's failures and the view's disputes that live on, by (worker, aggregator). Pairs in
// `late` come into dispute for kLateDisputeSteps (lateness.h): their `since` lies ahead.
std::vector<Dispute> DisputesAfter(const SealedStep& sealed, const Block& view,
                                   const std::set<std::pair<PeerId, PeerId>>& late = {});
// Drops whoever `disputes` has with more peers that stay than the genesis bears faults.
void DropDisputed(const std::vector<Dispute>& disputes, const Manifest& manifest, Docket& docket);
// Those of `disputes` whose two stay; the newest kMaxDisputes.
std::vector<Dispute> KeptDisputes(std::vector<Dispute> disputes, const Docket& docket);

}  // namespace ostraka::protocol
