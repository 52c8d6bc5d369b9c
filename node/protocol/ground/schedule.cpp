#include "node/protocol/ground/schedule.h"

#include <array>
#include <charconv>

#include "aggregation/optim/cosine.h"
#include "node/base/check.h"

namespace ostraka::protocol {

namespace {

// `peak`, after the warm-up and by the schedule. REQUIRES: step < steps - settle_steps.
double Scheduled(const TrainingPlan& plan, double peak, std::uint64_t step) {
  if (step < plan.warmup_steps) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(plan.warmup_steps);
  }
  const std::uint64_t end = plan.steps - plan.settle_steps;
  const std::uint64_t left = end - step;
  const std::uint64_t all = end - plan.warmup_steps;
  switch (plan.schedule) {
    case Schedule::kLinear:
      return peak * static_cast<double>(left) / static_cast<double>(all);
    case Schedule::kConstant:
      return peak;
    case Schedule::kCosine:
      return peak * aggregation::HalfCosine(all - left, all);
    case Schedule::kWsd:
      if (left >= plan.decay_steps) return peak;
      return peak * static_cast<double>(left) / static_cast<double>(plan.decay_steps);
  }
  return 0;
}

bool Settles(const TrainingPlan& plan, std::uint64_t step) {
  return step >= plan.steps - plan.settle_steps;
}

}  // namespace

double RateOf(const TrainingPlan& plan, std::uint64_t step) {
  if (Settles(plan, step)) return 0;
  return plan.inner.steps > 1 ? plan.learning_rate : Scheduled(plan, plan.learning_rate, step);
}

aggregation::LocalSteps LocalStepsOf(const TrainingPlan& plan, std::uint64_t step) {
  const InnerPlan& inner = plan.inner;
  if (inner.steps == 1) return {};
  return {.count = inner.steps,
          .rate = Settles(plan, step) ? 0 : Scheduled(plan, inner.learning_rate, step),
          .warmup = inner.warmup_steps,
          .clip_norm = inner.clip_norm,
          .beta1 = inner.beta1,
          .beta2 = inner.beta2,
          .epsilon = inner.epsilon,
          .weight_decay = inner.weight_decay};
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
  if (plan.inner.steps > 1) {
    text = std::to_string(plan.inner.steps) + " local steps of adamw, learning rate " +
           number(plan.inner.learning_rate) + ", then " + text;
  }
  if (plan.most_batches > 1) {
    const std::string most =
        BatchesVary(plan) ? " to " + std::to_string(plan.most_batches) : std::string();
    text = std::to_string(plan.batches) + most + " batches a gradient, " + text;
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
