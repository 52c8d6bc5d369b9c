#include "node/protocol/ground/schedule.h"

namespace ostraka::protocol {

aggregation::SgdOptions SgdOf(const TrainingPlan& plan, std::uint64_t step) {
  const std::uint64_t end = plan.steps - plan.settle_steps;
  double rate = 0;
  if (step < plan.warmup_steps && step < end) {
    rate =
        plan.learning_rate * static_cast<double>(step + 1) / static_cast<double>(plan.warmup_steps);
  } else if (step < end) {
    // Here warmup_steps <= step < end.
    rate = plan.learning_rate * static_cast<double>(end - step) /
           static_cast<double>(end - plan.warmup_steps);
  }
  return {.rate = static_cast<float>(rate),
          .momentum = static_cast<float>(plan.momentum),
          .decay = static_cast<float>(plan.weight_decay)};
}

bool RunEndsWith(const TrainingPlan& plan, std::uint64_t step,
                 std::optional<std::uint64_t> last_removal_step, bool case_open) {
  if (case_open || step + 1 < plan.steps) return false;
  return !last_removal_step || step >= *last_removal_step + plan.steps_after_ban;
}

wire::Course CourseAfter(wire::Course before, const TrainingPlan& plan, const wire::Block& block) {
  if (before != wire::Course::kTrains) return wire::Course::kClosed;
  const bool ends =
      RunEndsWith(plan, block.step, block.last_removal_step, !block.cases.empty());
  return ends ? wire::Course::kCloses : wire::Course::kTrains;
}

}  // namespace ostraka::protocol
