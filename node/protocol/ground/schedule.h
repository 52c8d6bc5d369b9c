// The learning rate of a step and the end of a run, as functions of the manifest and sealed blocks.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "aggregation/optim/sgd.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

// Linear warm-up over `warmup_steps`, then linear decay to 0 at steps - settle_steps, then 0.
// Rationale: claims made in the last steps can still be checked, and do not move the model.
aggregation::SgdOptions SgdOf(const TrainingPlan& plan, std::uint64_t step);

// True if `step` is the last that trains: all steps are done, `steps_after_ban` steps have
// passed since the block of the last removal, and no case is open.
bool IsLastToTrain(const TrainingPlan& plan, std::uint64_t step,
                   std::optional<std::uint64_t> last_removal_step, bool case_open);
// Block::closing of `block`, which follows `head`: once a run closes, nothing that a closing step
// finds makes it train on.
std::uint16_t ClosingAfter(const wire::Block& head, const TrainingPlan& plan,
                           const wire::Block& block);

}  // namespace ostraka::protocol
