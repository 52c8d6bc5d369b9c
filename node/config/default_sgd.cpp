#include "node/config/default_sgd.h"

#include <algorithm>
#include <array>

#include "node/base/check.h"

namespace ostraka::config {
namespace {

constexpr double kNesterovMomentum = 0.9;
constexpr double kAdamWRate = 0.003;
constexpr double kLambRate = 0.03;
constexpr double kClipNormOfMoments = 1;
// Of the update that follows local steps.
constexpr double kOuterRate = 0.8;
constexpr double kOuterMomentum = 0.8;

struct Row {
  std::string_view model;
  std::string_view data;
  SgdSettings settings;
};

constexpr std::array<Row, 18> kRows = {{
    {"toy", "toy", {1.0, 0}},
    {"softmax", "digits", {1.0, 0}},
    {"softmax", "mnist", {0.03, 0.9}},
    {"softmax", "cifar10", {0.01, 0.9}},
    {"softmax", "text", {0.03, 0.9}},
    // Unclipped, one bad batch throws back a run that has learned
    // (docs/measurements/learning-rates.md).
    {"mlp", "digits", {1.0, 0, 0.3}},
    {"mlp", "mnist", {0.07, 0.9}},
    {"mlp", "cifar10", {0.02, 0.9}},
    {"mlp", "text", {0.1, 0.9}},
    {"cnn", "digits", {0.3, 0}},
    {"cnn", "mnist", {0.05, 0.9}},
    {"cnn", "cifar10", {0.3, 0}},
    // Graphs differ. These serve a small gpt (docs/training.md), and perceptrons on images.
    {"graph", "tokens", {0.1, 0.9}},
    {"graph", "examples", {0.1, 0.9}},
    {"graph", "stream", {0.1, 0.9}},
    {"graph", "digits", {0.3, 0}},
    {"graph", "mnist", {0.03, 0.9}},
    {"graph", "cifar10", {0.01, 0.9}},
}};

void SetDecay(const UpdateWishes& wishes, std::uint64_t train, protocol::TrainingPlan& plan) {
  const bool decays = plan.schedule == protocol::Schedule::kWsd;
  plan.decay_steps = wishes.decay_steps.value_or(decays ? (train + 4) / 5 : 0);
}

// The update of a run with local steps, which hardly depends on the model: they have made a step of
// it already.
void SetOuterUpdate(const UpdateWishes& wishes, std::uint64_t train, protocol::TrainingPlan& plan) {
  using aggregation::Optimizer;
  plan.inner.learning_rate = wishes.inner_rate.value_or(plan.inner.learning_rate);
  plan.inner.warmup_steps = std::min(plan.inner.warmup_steps, plan.inner.steps);
  plan.optimizer = wishes.optimizer.value_or(Optimizer::kNesterov);
  const bool has_momentum = plan.optimizer == Optimizer::kNesterov;
  plan.learning_rate = wishes.rate.value_or(has_momentum ? kOuterRate : 1);
  plan.momentum = wishes.momentum.value_or(has_momentum ? kOuterMomentum : 0);
  plan.clip_norm = wishes.clip_norm.value_or(0);
  plan.schedule = wishes.schedule.value_or(protocol::Schedule::kCosine);
  plan.warmup_steps = wishes.warmup_steps.value_or(train / 6);
}

}  // namespace

SgdSettings DefaultSgd(std::string_view model, std::string_view data, std::optional<double> rate,
                       std::optional<double> momentum) {
  if (rate) return {*rate, momentum.value_or(0), 0};
  const auto* const row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return each.model == model && each.data == data;
  });
  OSTRAKA_CHECK(row != kRows.end());
  SgdSettings settings = row->settings;
  if (!momentum) return settings;
  if (*momentum >= 0 && *momentum < 1 && *momentum != settings.momentum) {
    settings.rate *= (1 - *momentum) / (1 - settings.momentum);
  }
  settings.momentum = *momentum;
  return settings;
}

void SetUpdate(const UpdateWishes& wishes, std::string_view model, std::string_view data,
               protocol::TrainingPlan& plan) {
  using aggregation::Optimizer;
  const std::uint64_t train = plan.steps > plan.settle_steps ? plan.steps - plan.settle_steps : 0;
  plan.inner.steps = wishes.inner_steps.value_or(plan.inner.steps);
  if (plan.inner.steps > 1) {
    SetOuterUpdate(wishes, train, plan);
    return SetDecay(wishes, train, plan);
  }
  plan.optimizer = wishes.optimizer.value_or(plan.optimizer);
  plan.schedule = wishes.schedule.value_or(plan.schedule);
  plan.warmup_steps = wishes.warmup_steps.value_or(plan.warmup_steps);
  if (aggregation::HasMoments(plan.optimizer)) {
    const double rate = plan.optimizer == Optimizer::kLamb ? kLambRate : kAdamWRate;
    plan.learning_rate = wishes.rate.value_or(rate);
    plan.momentum = wishes.momentum.value_or(0);
    plan.clip_norm = wishes.clip_norm.value_or(kClipNormOfMoments);
  } else {
    SgdSettings sgd = DefaultSgd(model, data, wishes.rate, wishes.momentum);
    const bool at_rest = !wishes.momentum && sgd.momentum == 0;
    if (plan.optimizer == Optimizer::kNesterov && at_rest) {
      sgd = DefaultSgd(model, data, wishes.rate, kNesterovMomentum);
    }
    plan.learning_rate = sgd.rate;
    plan.momentum = sgd.momentum;
    plan.clip_norm = wishes.clip_norm.value_or(sgd.clip_norm);
  }
  SetDecay(wishes, train, plan);
}

}  // namespace ostraka::config
