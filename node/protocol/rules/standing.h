// The consequences of a peer's removals, and which dropped peers may return
// (docs/protocol/removals.md, docs/protocol/admission.md).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
// For so many steps, counted from when it may return, the run keeps the seat of a member that left
// or was dropped. A shorter time for members that leave would make people pull the plug, and the
// others would wait. Attack: keys that leave, have others come in their place and return together
// (docs/decisions/0027).
inline constexpr std::uint64_t kSeatSteps = kBarredSteps;

// Null if `peer` was never removed and has never left.
const Standing* StandingOf(const std::vector<Standing>& standings, const PeerId& peer);

// All keys of the run after `head`: its members, and the peers that were removed or have left and
// have not come back. By key.
std::vector<PeerId> KeysOf(const Block& head);
bool IsKey(const Block& head, const PeerId& peer);

// The keys that a block removes.
struct Removed {
  const std::map<PeerId, FaultKind>& losers;
  // Of these a drop that is the first in kBarredSteps is not counted (part_wait.h). [Attack: if
  // none were, one member could be silent every 35 steps for ever, and each time the others wait.]
  std::set<PeerId> excused = {};
};
// The keys that a block admits: all, and those of them that had no seat.
struct Admitted {
  const std::vector<PeerId>& joined;
  const std::vector<PeerId>& came;
};
// The head's standings, by key, with the removals, departures and admissions of the block of `step`
// added. A member that leaves less than kBarredSteps after a return has a drop counted, which bars
// it. Attack: keys that take turns in coming and going.
std::vector<Standing> StandingsAfter(const Block& head, const Removed& removed,
                                     const std::vector<PeerId>& left, const Admitted& admitted,
                                     std::uint64_t step);

// Notes in which steps those erred whom `removals` suspend for a first fault as targets.
void NoteFirstFaults(const std::vector<wire::Removal>& removals, std::vector<Standing>& standings);

// Whether `peer`, if it loses a case now, has erred before. `as_target_in`: the step that the case
// is about, if it is its target: two convictions about one step are one fault. [A bit that flips in
// a part is seen by the part's owner and by a validator.]
bool HasErredBefore(const Block& head, const PeerId& peer,
                    std::optional<std::uint64_t> as_target_in);

// Whether a member of that standing that leaves in `step` came back so lately that its leave counts
// as a drop, and bars it.
bool LeavesTooSoon(const Standing& standing, std::uint64_t step);

// The first step in which the run keeps no seat for who was dropped or has left: up to it that may
// return without a voucher. Of one that has come back it says nothing.
std::uint64_t SeatIsKeptUntil(const Standing& standing);
bool KeepsSeat(const Standing& standing, std::uint64_t step);

// True iff a REJOIN of `peer` in `step` is in order: a key of the run, not a member of the head,
// not banned and not barred, for which a seat is kept. An honest member checks this before it
// confirms a REJOIN. A key that may not return may come anew (coming.h).
bool MayReturn(const Block& head, const PeerId& peer, std::uint64_t step);

}  // namespace ostraka::protocol
