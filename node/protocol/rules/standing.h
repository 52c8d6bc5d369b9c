// The consequences of a peer's removals, and the return of dropped peers (protocol.md 6 and 7).
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

// The number of steps for which a drop at REVEAL, a suspension, and every drop but the first, bars
// a peer.
inline constexpr std::uint64_t kBarredSteps = 1000;

// Null if `peer` was never removed and has never left.
const Standing* StandingOf(const std::vector<Standing>& standings, const PeerId& peer);

// All keys of the run after `head`: its members, and the peers that were removed or have left and
// have not come back. By key.
std::vector<PeerId> KeysOf(const Block& head);
bool IsKey(const Block& head, const PeerId& peer);

// The head's standings, by key, with the removals, departures and returns of the block of `step`
// added. A member that leaves less than kBarredSteps after a return has a drop counted, which bars
// it. Attack: keys that take turns in coming and going.
std::vector<Standing> StandingsAfter(const Block& head, const std::map<PeerId, FaultKind>& losers,
                                     const std::vector<PeerId>& left,
                                     const std::vector<PeerId>& joined, std::uint64_t step);

// True iff a REJOIN of `peer` in `step` is in order: a key of the run, not a member of the head,
// not banned and not barred. An honest member checks this before it confirms a REJOIN.
bool MayRejoin(const Block& head, const PeerId& peer, std::uint64_t step);

struct Returns {
  std::vector<Candidate> candidates;  // by key
  std::vector<PeerId> joined;         // by key
};
// The peers that more members than the fault bound confirm in this step, without those in `losers`.
// The first such block opens a candidacy, each later block must confirm it again, and the
// manifest's `probation`-th block in a row admits the peer.
Returns ReturnsAfter(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                     const std::map<PeerId, FaultKind>& losers);

}  // namespace ostraka::protocol
