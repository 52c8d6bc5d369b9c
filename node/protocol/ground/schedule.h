// The learning rates of a step and the end of a run, as functions of the manifest and sealed
// blocks.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregation/optim/local_steps.h"
#include "aggregation/optim/optimizer.h"
#include "aggregation/optim/sgd.h"
#include "node/protocol/ground/manifest.h"

namespace ostraka::protocol {

// The learning rate of the update of `step`: linear warm-up over `warmup_steps`, then as the plan's
// schedule has it, and 0 from steps - settle_steps on (docs/numerics.md, 9). With local steps it is
// constant before that. Rationale of the end: claims made in the last steps can still be checked,
// and do not move the model.
double RateOf(const TrainingPlan& plan, std::uint64_t step);
// What a worker computes in `step`. With local steps, warm-up and schedule are of their rate.
aggregation::LocalSteps LocalStepsOf(const TrainingPlan& plan, std::uint64_t step);
// The update of `step`.
aggregation::OptimizerStep OptimizerStepOf(const TrainingPlan& plan, std::uint64_t step);
// The same as plain SGD, whatever the plan's optimizer: for comparisons and probes.
aggregation::SgdOptions SgdOf(const TrainingPlan& plan, std::uint64_t step);

// For people: "learning rate 0.1, momentum 0.9", "adamw, learning rate 0.003, cosine, clipped at
// 1"; without what is 0, the optimizer sgd and the schedule linear.
std::string UpdateText(const TrainingPlan& plan);

// True if `step` is the last that trains: all steps are done, `steps_after_ban` steps have
// passed since the block of the last removal, and no case is open.
bool IsLastToTrain(const TrainingPlan& plan, std::uint64_t step,
                   std::optional<std::uint64_t> last_removal_step, bool case_open);
// Block::closing of `block`, which follows `head`: once a run closes, nothing that a closing step
// finds makes it train on.
std::uint16_t ClosingAfter(const wire::Block& head, const TrainingPlan& plan,
                           const wire::Block& block);

}  // namespace ostraka::protocol
