// The block of a step: every removal, case, dispute, return and threshold as a deterministic
// function of the head (the last block) and sealed data alone (docs/protocol/). No local
// observation enters here: what one peer saw and others did not must never decide. A block needs no
// block before the head.
//
// Passes over one docket, each of which sees the losers of those before it:
//   1 what the seals prove: bans, and drops of the absent
//   2 cases decided: bans
//   3 cases undecided: drops
//   4 owners that owe a name
//   5 own voids, withheld results, withheld or false echoes, slowness
//   6 disputed pairs that failed again
//   7 peers in dispute with too many
// If this dropped more than can be at fault, the network was not timely: nobody is dropped;
//   then cases that open, departures, returns, standings. Order of the removals: bans, drops, each
//   by key.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/cases.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/disputes.h"
#include "node/protocol/rules/docket.h"
#include "node/protocol/rules/standing.h"
#include "node/protocol/rules/tau.h"

namespace ostraka::protocol {

struct Judged {
  Digest decision;                // of seal C
  Digest randomness;              // r^t
  std::vector<ColumnFate> fates;  // one a column
  // Absences, equivocations, malformed messages, false reveals, inline evidence. JudgeStep adds
  // what the decoded messages prove by themselves (FindImpossibleMessages).
  SealedFaults faults;
};

// Messages that no honest peer signs: numbers out of range (docs/protocol/numbers.md), and an AGG
// whose bitmap has not one bit a member, or includes a member that is no worker.
void FindImpossibleMessages(const SealedStep& sealed, const Block& head, SealedFaults& faults);

// Delta of the next step in microseconds: 4 x the (bound + 1)-th largest sealed lag_us, from the
// manifest's delta to its ceiling; the head's value if no more PROOFs than the fault bound are
// sealed.
//   Raising: the figure is at most what an honest member measured, so no minority raises Delta.
//   Lowering: a minority that states zeros takes Delta back to the manifest's, which all chose when
//   they joined, and never below it. Agreement and the naming of the silent rest on that value
//   alone. (A median of what is stated falls to the fastest honest member near t_s = n / 2.)
std::uint64_t NextDelta(const SealedStep& sealed, const Block& head, const Manifest& manifest);

// REQUIRES: `sealed` is of the step after `head`, and fates are one a column.
Block JudgeStep(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                const Judged& judged);

}  // namespace ostraka::protocol
