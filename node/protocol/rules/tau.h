// tau of the next step: it follows the norms and sizes that the workers stated in this one
// (docs/decisions/0005, 0011).
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"

namespace ostraka::protocol {

// The manifest's tau, unless that is 0. Then, over applied and blind columns: tau_multiple times
// the median of the columns' median norms, and at least a share of the median of the columns'
// median sizes, 2^-12, or beside results of i16 2^-9 a member of the head; limited to [SmallestTau,
// LargestTau]. Medians are lower ones. The head's tau if no column counts.
//
// Rationale: b of a column's 2b + 1 senders lie, so its medians lie between the smallest and the
// largest honest figure; and colluders own at most as many columns as they have rows in one.
// Attack: a single median over all norms could be theirs, with 3 owners of 7 and 3 rows of the
// others' columns. With tau_multiple <= 1 the feedback from a displaced aggregate to tau dies out.
// Blind columns count, as a tau that is too small would otherwise stay so for ever; and with 2^-12
// of the sizes no column is blind whose aggregate is about as large as its rows.
double NextTau(const SealedStep& sealed, const Block& head, const Manifest& manifest,
               const std::vector<ColumnFate>& fates);

}  // namespace ostraka::protocol
