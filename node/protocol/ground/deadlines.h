// How long a step waits: what its head and the manifest say, the same for all members.
//
// Thread safety: pure functions.
#pragma once

#include "node/protocol/ground/manifest.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

// Block::part_us of the genesis of an adaptive run: half of the manifest's wait, so that a late
// start is excused (node/protocol/rules/part_wait.h).
std::uint64_t PartWaitAtGenesis(const Manifest& manifest);
// How long an aggregator waits for parts in the step after `head`.
base::Duration PartWaitAfter(const wire::Block& head, const Manifest& manifest);
// The longest wait of its seal A, and of its seal C where no case begins
// (node/protocol/rules/recomputing.h).
base::Duration SealDeadlineAfter(const wire::Block& head, const Manifest& manifest);

}  // namespace ostraka::protocol
