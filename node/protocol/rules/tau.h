// tau of the next step: it follows what the workers stated of this one (docs/decisions/0005,
// 0011).
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/protocol/rules/columns.h"

namespace ostraka::protocol {

// The manifest's; if that is 0: over applied and blind columns, the median of each column's median
// norm times tau_multiple, and at least 2^-12 times the median of each column's median size;
// between SmallestTau and LargestTau. Medians are lower ones. The view's tau if no column counts.
//
// Of a column's 2b + 1 senders b lie, so its medians are at least the smallest honest figure and at
// most the largest; and as many columns are colluders' as senders are. [One median over all norms
// could be theirs: 3 owners of 7 and 3 rows of the others' columns.] With tau_multiple <= 1 the
// feedback from a displaced aggregate to tau dies out. Blind columns count, or a tau that is too
// small would stay so for ever; and at the share of the sizes no column is blind whose aggregate
// is about as large as its rows.
double NextTau(const SealedStep& sealed, const Block& view, const Manifest& manifest,
               const std::vector<ColumnFate>& fates);

}  // namespace ostraka::protocol
