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
bool RunEndsWith(const TrainingPlan& plan, std::uint64_t step,
                 std::optional<std::uint64_t> last_removal_step, bool case_open);
// The course after `block`, which follows a block of course `before`: when the last step that
// trains is done, one step more seals the state after it, whatever else that step finds.
wire::Course CourseAfter(wire::Course before, const TrainingPlan& plan, const wire::Block& block);
inline bool RunIsOver(const wire::Block& block) { return block.course == wire::Course::kClosed; }

}  // namespace ostraka::protocol
