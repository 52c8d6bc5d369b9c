// What a member's past costs it, and how a dropped one comes back (protocol.md 6 and 7).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

using wire::Candidate;
using wire::Standing;

// Steps that a drop at REVEAL, and every drop but the first, keeps a peer away.
inline constexpr std::uint64_t kBarredSteps = 1000;

// Null if `peer` was never removed.
const Standing* StandingOf(const std::vector<Standing>& standings, const PeerId& peer);

// The view's standings, by key, with what this block removes.
std::vector<Standing> StandingsAfter(const Block& view, const std::map<PeerId, FaultKind>& losers,
                                     std::uint64_t step);

// True iff a REJOIN of `peer` in step `step` is in order: a key of the genesis, no member of the
// view, not banned and not barred. What an honest member checks before it confirms one.
bool MayRejoin(const Block& view, const Manifest& manifest, const PeerId& peer, std::uint64_t step);

struct Returns {
  std::vector<Candidate> candidates;  // by key
  std::vector<PeerId> joined;         // by key
};
// Candidates whom more members confirm in this step than can be at fault. The first such block
// opens a candidacy, each later one must confirm it again, and the manifest's `probation`-th in a
// row admits. Nobody in `losers` is one.
Returns ReturnsAfter(const SealedStep& sealed, const Block& view, const Manifest& manifest,
                     const std::map<PeerId, FaultKind>& losers);

}  // namespace ostraka::protocol
