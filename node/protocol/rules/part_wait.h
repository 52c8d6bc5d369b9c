// How long aggregators wait for parts in the next step, where the manifest lets that follow the run
// (docs/protocol/waits.md; docs/decisions/0028-deadlines-that-follow-the-run.md).
//
// A step in which nobody was late takes a fiftieth from the wait. In one in which a member was
// absent, or a part or a result failed to pass, the wait was perhaps too short, so it doubles; and
// as long as twice the wait is not above the manifest's, that step *excuses*: it opens no dispute,
// judges no disputed pair, drops no owner whose aggregate others miss, counts no column as void by
// what its owner lacked (voids.h), and a member's first absence in kBarredSteps (standing.h) is not
// counted. Beyond that the rules are those of a run whose wait is the manifest's.
//
// Attack: framing. A short wait makes honest members late, and what follows from lateness is only
// lost turns. [A lower median of what members state for their lateness is set by colluders near
// n / 2: honest members four times slower than the fastest were dropped.]
// Attack: lateness on purpose. Each excuse doubles the wait, and 35 quiet steps halve it again, so
// one step of 35 can be excused at most in the long run, however many members are late in it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <set>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"
#include "node/protocol/rules/docket.h"

namespace ostraka::protocol {

struct PartWait {
  std::uint64_t next_us = 0;  // Block::part_us; 0: the manifest's, for ever
  bool excuses = false;
  std::set<PeerId> excused = {};  // members that were absent in an excused step
};
// Messages and parts of the step that may have come too late.
struct StepFailures {
  const SealedFaults& faults;  // what the seals show, the gravest of each
  bool of_pairs = false;       // FailedPairs (disputes.h) has some
};
PartWait RuleOnPartWait(const SealedStep& sealed, const Block& head, const Manifest& manifest,
                        const StepFailures& failures);

}  // namespace ostraka::protocol
