#include "node/protocol/ground/schedule.h"

#include <array>
#include <charconv>

#include "aggregation/optim/cosine.h"
#include "node/base/check.h"

namespace ostraka::protocol {

double RateOf(const TrainingPlan& plan, std::uint64_t step) {
  const std::uint64_t end = plan.steps - plan.settle_steps;
  if (step >= end) return 0;
  if (step < plan.warmup_steps) {
    return plan.learning_rate * static_cast<double>(step + 1) /
           static_cast<double>(plan.warmup_steps);
  }
  // Here warmup_steps <= step < end.
  const std::uint64_t left = end - step;
  const std::uint64_t all = end - plan.warmup_steps;
  switch (plan.schedule) {
    case Schedule::kLinear:
      return plan.learning_rate * static_cast<double>(left) / static_cast<double>(all);
    case Schedule::kConstant:
      return plan.learning_rate;
    case Schedule::kCosine:
      return plan.learning_rate * aggregation::HalfCosine(all - left, all);
    case Schedule::kWsd:
      if (left >= plan.decay_steps) return plan.learning_rate;
      return plan.learning_rate * static_cast<double>(left) / static_cast<double>(plan.decay_steps);
  }
  return 0;
}

aggregation::OptimizerStep OptimizerStepOf(const TrainingPlan& plan, std::uint64_t step) {
  return {.optimizer = plan.optimizer,
          .rate = static_cast<float>(RateOf(plan, step)),
          .decay = static_cast<float>(plan.weight_decay),
          .momentum = static_cast<float>(plan.momentum),
          .clip_norm = plan.clip_norm,
          .beta1 = plan.beta1,
          .beta2 = plan.beta2,
          .epsilon = plan.epsilon,
          .updates = plan.earlier_updates + step + 1};
}

aggregation::SgdOptions SgdOf(const TrainingPlan& plan, std::uint64_t step) {
  const aggregation::OptimizerStep all = OptimizerStepOf(plan, step);
  return {.rate = all.rate, .momentum = all.momentum, .decay = all.decay};
}

std::string UpdateText(const TrainingPlan& plan) {
  const auto number = [](double value) {
    std::array<char, 32> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6);
    return std::string(text.data(), end.ptr);
  };
  std::string text;
  if (plan.optimizer != aggregation::Optimizer::kSgd) {
    text = std::string(aggregation::OptimizerName(plan.optimizer)) + ", ";
  }
  text += "learning rate " + number(plan.learning_rate);
  if (plan.momentum != 0) text += ", momentum " + number(plan.momentum);
  if (plan.schedule != Schedule::kLinear) text += ", " + std::string(ScheduleName(plan.schedule));
  if (plan.clip_norm != 0) text += ", clipped at " + number(plan.clip_norm);
  return text;
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
