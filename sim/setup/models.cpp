#include "sim/setup/models.h"

#include <string>

namespace ostraka::sim {
namespace {

// Small batches: the model is to be cheap, and its gradients noisy, as those of large models are.
constexpr std::uint64_t kRecordsABatch = 8;
constexpr std::uint64_t kMostRecordsABatch = 64;
constexpr double kRateOfSgd = 0.5;
constexpr double kRateOfNesterov = 0.1;
constexpr double kRateOfAdamW = 0.02;
constexpr double kRateOfLamb = 0.08;
// With local steps.
constexpr double kInnerRate = 0.02;
constexpr double kOuterRate = 0.8;
constexpr double kOuterMomentum = 0.8;

double RateFor(aggregation::Optimizer optimizer) {
  switch (optimizer) {
    case aggregation::Optimizer::kSgd:
      return kRateOfSgd;
    case aggregation::Optimizer::kNesterov:
      return kRateOfNesterov;
    case aggregation::Optimizer::kAdamW:
      return kRateOfAdamW;
    case aggregation::Optimizer::kLamb:
      return kRateOfLamb;
  }
  return kRateOfSgd;
}

}  // namespace

void UseTinyGpt(SimOptions& options) {
  options.model = kGptModel;
  options.exact = true;
  options.batch_size = kRecordsABatch;
  options.learning_rate = RateFor(options.optimizer);
}

void UseLocalSteps(std::uint64_t steps, SimOptions& options) {
  options.exact = true;
  options.inner_steps = steps;
  options.inner_rate = kInnerRate;
  options.optimizer = aggregation::Optimizer::kNesterov;
  options.learning_rate = kOuterRate;
  options.momentum = kOuterMomentum;
  options.clip_norm = 0;
}

base::Status CheckModel(const SimOptions& options) {
  if (options.model == kToyModel) {
    if (options.dimension >= 2 * std::uint64_t{KeysIn(options)}) return base::OkStatus();
    return base::InvalidArgument("dimension must be at least 2 x peers: a part has two elements");
  }
  if (options.model != kGptModel) {
    return base::InvalidArgument("model must be toy or gpt, not '" + options.model + "'");
  }
  if (!options.exact) {
    return base::InvalidArgument(
        "model gpt is trained by exact kernels: make exact 1 (compute_profile exact/1)");
  }
  if (options.batch_size >= 1 && options.batch_size <= kMostRecordsABatch) return base::OkStatus();
  return base::InvalidArgument("batch_size of model gpt must be 1 to " +
                               std::to_string(kMostRecordsABatch));
}

}  // namespace ostraka::sim
