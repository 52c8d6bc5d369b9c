#include "sim/check/yardstick.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "aggregation/optim/optimizer.h"
#include "node/base/check.h"
#include "node/protocol/ground/roles.h"
#include "node/protocol/ground/schedule.h"

namespace ostraka::sim {
namespace {

// An exploded loss has up to 300 digits before its point.
std::string Short(double loss) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", loss);
  return text;
}

// The gradient of row `row`, which no member of the run has drawn.
base::StatusOr<std::vector<float>> RowOf(train::Trainer& trainer,
                                         const protocol::TrainingPlan& plan,
                                         std::span<const float> parameters,
                                         const base::Digest& seed, std::uint64_t step,
                                         std::uint32_t row) {
  base::PeerId nobody;
  for (int i = 0; i < 4; ++i) nobody.bytes[i] = static_cast<std::uint8_t>(row >> (8 * i));
  return trainer.Gradient(parameters, protocol::BatchSeed(seed, plan.data, {}, step, nobody));
}

struct Rows {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// The loss after plan.steps steps on the mean of `rows`.
base::StatusOr<double> LossOfDescent(train::Trainer& trainer, const protocol::TrainingPlan& plan,
                                     std::span<const float> initial, Rows rows,
                                     const base::Digest& seed, Rest rest) {
  std::vector<float> parameters(initial.begin(), initial.end());
  aggregation::Descent descent(plan.optimizer, trainer.layout());
  std::vector<double> sum(parameters.size());
  std::vector<float> mean(parameters.size());
  for (std::uint64_t step = 0; step < plan.steps; ++step) {
    if (step >= rest.begin && step < rest.end) continue;
    sum.assign(sum.size(), 0.0);
    for (std::uint32_t row = rows.first; row < rows.first + rows.count; ++row) {
      ASSIGN_OR_RETURN(const auto gradient, RowOf(trainer, plan, parameters, seed, step, row));
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += gradient[c];
    }
    for (std::size_t c = 0; c < sum.size(); ++c) mean[c] = static_cast<float>(sum[c] / rows.count);
    descent.Step(protocol::OptimizerStepOf(plan, step), mean, parameters);
  }
  ASSIGN_OR_RETURN(const train::Evaluation after, trainer.Evaluate(parameters));
  return after.loss;
}

double AllowedLoss(const Yardstick& yardstick, LossMeasure measure) {
  if (measure == LossMeasure::kWhole) return kLossFactor * yardstick.worst + kLossMargin;
  const double gain = std::max(yardstick.initial - yardstick.worst, 0.0);
  return yardstick.worst + kGainShare * gain + kLossMargin;
}

}  // namespace

base::StatusOr<Yardstick> MeasureYardstick(train::Trainer& trainer,
                                           const protocol::TrainingPlan& plan,
                                           std::span<const float> initial, std::uint32_t rows,
                                           const base::Digest& seed, Rest rest) {
  OSTRAKA_CHECK(rows > 0);
  Yardstick yardstick;
  ASSIGN_OR_RETURN(const train::Evaluation before, trainer.Evaluate(initial));
  yardstick.initial = before.loss;
  for (std::uint32_t descent = 0; descent < kYardstickDescents; ++descent) {
    ASSIGN_OR_RETURN(const double loss,
                     LossOfDescent(trainer, plan, initial, {descent * rows, rows}, seed, rest));
    yardstick.reference += loss / kYardstickDescents;
    yardstick.worst = std::max(yardstick.worst, loss);
  }
  return yardstick;
}

base::Status JudgeLoss(double loss, const Yardstick& yardstick, LossMeasure measure) {
  if (!std::isfinite(loss))
    return base::FailedPrecondition("the loss exploded: it is not a number");
  if (loss > yardstick.initial) {
    return base::FailedPrecondition("the loss exploded: it began at " + Short(yardstick.initial) +
                                    " and ended at " + Short(loss));
  }
  const double allowed = AllowedLoss(yardstick, measure);
  if (loss <= allowed) return base::OkStatus();
  return base::FailedPrecondition("the loss ended at " + std::to_string(loss) + ", above " +
                                  std::to_string(allowed) + ": the honest rows alone give " +
                                  std::to_string(yardstick.reference) + ", at worst " +
                                  std::to_string(yardstick.worst));
}

}  // namespace ostraka::sim
