// Which batches a step's workers average, from the block before it (docs/numerics.md, 10).
//
// Attack: who chose its count when it knows its gradients would send the worst of the true ones. So
// COMMIT says the count of the next step, and its seal ends before that step's coin is known.
// Claiming more than one computes is a false gradient; claiming less wastes one's own machine.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "node/protocol/ground/manifest.h"
#include "node/wire/block.h"

namespace ostraka::protocol {

// What the block before a step says of the step's batches.
struct BatchPlan {
  Digest randomness;                          // of which the batches' seeds are made (roles.h)
  std::vector<wire::BatchCount> counts = {};  // Block::batch_counts
};
BatchPlan BatchPlanOf(const wire::Block& before);

// How many batches `worker` averages in each gradient; Block::batch_counts says `counts`.
std::uint32_t BatchesOf(const PeerId& worker, const std::vector<wire::BatchCount>& counts,
                        const TrainingPlan& plan);
// Whether a block of the run can have these counts. Attack: a block that its accused alone signed,
// in a file of evidence, names a count of 2^32, and who verifies it computes for ever.
bool MayBeCounts(const std::vector<wire::BatchCount>& counts, const TrainingPlan& plan);
// Whether an honest member's COMMIT says `next_batches`.
bool MaySay(std::uint32_t next_batches, const TrainingPlan& plan);

}  // namespace ostraka::protocol
