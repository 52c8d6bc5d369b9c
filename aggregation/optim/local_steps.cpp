#include "aggregation/optim/local_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

OptimizerStep InnerUpdate(const LocalSteps& plan, std::uint64_t done) {
  return {.optimizer = Optimizer::kAdamW,
          .rate = RateOfStep(plan, done),
          .decay = static_cast<float>(plan.weight_decay),
          .clip_norm = plan.clip_norm,
          .beta1 = plan.beta1,
          .beta2 = plan.beta2,
          .epsilon = plan.epsilon,
          .updates = done + 1};
}

void TakeLocalStep(const LocalSteps& plan, std::uint64_t done, std::span<float> gradient,
                   std::span<float> y, std::span<float> first, std::span<float> second,
                   const simd::Kernels& kernels) {
  ZeroNonFinite(gradient);
  const float factor = GradientClipFactor(BlockwiseNorm(gradient, kernels), plan.clip_norm);
  const std::array<std::span<float>, 2> moments = {first, second};
  Update(InnerUpdate(plan, done), factor, gradient, y, moments, kernels);
}

void MakeDistance(std::span<const float> from, std::span<float> y) {
  OSTRAKA_CHECK(from.size() == y.size());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = from[i] - y[i];
  ZeroNonFinite(y);
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
  TakeLocalStep(plan_, count_, gradient, y_, first_, second_, kernels);
  ++count_;
}

std::vector<float> LocalDescent::TakeDistance() {
  MakeDistance(from_, y_);
  return std::move(y_);
}

}  // namespace ostraka::aggregation
