#include "node/protocol/ground/schedule.h"

#include "node/base/check.h"

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

bool IsLastToTrain(const TrainingPlan& plan, std::uint64_t step,
                   std::optional<std::uint64_t> last_removal_step, bool case_open) {
  if (case_open || step + 1 < plan.steps) return false;
  return !last_removal_step || step >= *last_removal_step + plan.steps_after_ban;
}

std::uint16_t ClosingAfter(const wire::Block& head, const TrainingPlan& plan,
                           const wire::Block& block) {
  OSTRAKA_CHECK(!wire::RunIsOver(head));
  if (head.closing > 0) return static_cast<std::uint16_t>(head.closing + 1);
  return IsLastToTrain(plan, block.step, block.last_removal_step, !block.cases.empty()) ? 1 : 0;
}

}  // namespace ostraka::protocol
