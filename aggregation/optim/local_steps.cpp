#include "aggregation/optim/local_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "aggregation/optim/optimizer.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

float RateOfStep(const LocalSteps& plan, std::uint64_t done) {
  if (done + 1 >= plan.warmup) return static_cast<float>(plan.rate);
  return static_cast<float>(plan.rate *
                            (static_cast<double>(done + 1) / static_cast<double>(plan.warmup)));
}

}  // namespace

void ZeroNonFinite(std::span<float> values) {
  for (float& value : values) {
    if (!std::isfinite(value)) value = 0.0F;
  }
}

double BlockwiseNorm(std::span<const float> gradient, const simd::Kernels& kernels) {
  double sum = 0;
  for (std::size_t begin = 0; begin < gradient.size(); begin += kNormBlock) {
    const std::size_t size = std::min(kNormBlock, gradient.size() - begin);
    sum += static_cast<double>(kernels.dot_itself(gradient.data() + begin, size));
  }
  return std::sqrt(sum);
}

LocalDescent::LocalDescent(const LocalSteps& plan, std::span<const float> from)
    : plan_(plan),
      from_(from),
      y_(from.begin(), from.end()),
      first_(from.size()),
      second_(from.size()) {
  OSTRAKA_CHECK(plan.count > 1);
}

void LocalDescent::Step(std::vector<float>& gradient, const simd::Kernels& kernels) {
  OSTRAKA_CHECK(count_ < plan_.count && gradient.size() == y_.size());
  ZeroNonFinite(gradient);
  const OptimizerStep step = {.optimizer = Optimizer::kAdamW,
                              .rate = RateOfStep(plan_, count_),
                              .decay = static_cast<float>(plan_.weight_decay),
                              .clip_norm = plan_.clip_norm,
                              .beta1 = plan_.beta1,
                              .beta2 = plan_.beta2,
                              .epsilon = plan_.epsilon,
                              .updates = count_ + 1};
  const float factor = GradientClipFactor(BlockwiseNorm(gradient, kernels), plan_.clip_norm);
  const std::array<std::span<float>, 2> moments = {std::span(first_), std::span(second_)};
  Update(step, factor, gradient, y_, moments, kernels);
  ++count_;
}

std::vector<float> LocalDescent::TakeDistance() {
  for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = from_[i] - y_[i];
  ZeroNonFinite(y_);
  return std::move(y_);
}

}  // namespace ostraka::aggregation
