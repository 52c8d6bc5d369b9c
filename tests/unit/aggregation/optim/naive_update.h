// The update of aggregation/optim/optimizer.h once more, element by element, each operation stored
// to a volatile float: rounded once, never fused, whatever the compiler.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "aggregation/optim/optimizer.h"

namespace ostraka::aggregation::testing {

inline float Times(float a, float b) {
  volatile float result = a * b;
  return result;
}
inline float Plus(float a, float b) {
  volatile float result = a + b;
  return result;
}

// What is stored for `a`: one NaN for all, and no subnormal in a slot.
inline float StoredFloat(float a) {
  return std::isnan(a) ? std::bit_cast<float>(std::uint32_t{0x7fc00000}) : a;
}
inline float StoredSlot(float a) {
  return std::fpclassify(a) == FP_SUBNORMAL ? 0.0F : StoredFloat(a);
}

// b^n as a plain chain of n products: other roundings than Power's.
inline double NaivePower(double b, std::uint64_t n) {
  double result = 1;
  for (std::uint64_t i = 0; i < n; ++i) result *= b;
  return result;
}

// u of adamw and lamb.
inline float NaiveDirection(const OptimizerStep& step, float first, float second) {
  const auto c1 = static_cast<float>(1 / (1 - NaivePower(step.beta1, step.updates)));
  const auto c2 = static_cast<float>(1 / std::sqrt(1 - NaivePower(step.beta2, step.updates)));
  volatile float root = std::sqrt(second);
  volatile float quotient =
      Times(first, c1) / Plus(Times(root, c2), static_cast<float>(step.epsilon));
  return quotient;
}

inline void NaiveElement(const OptimizerStep& step, float g, float& x, float* first,
                         float* second) {
  float u = 0;
  if (HasMoments(step.optimizer)) {
    *first = Plus(Times(static_cast<float>(step.beta1), *first),
                  Times(static_cast<float>(1 - step.beta1), g));
    *second = Plus(Times(static_cast<float>(step.beta2), *second),
                   Times(static_cast<float>(1 - step.beta2), Times(g, g)));
    u = NaiveDirection(step, *first, *second);
  } else {
    *first = Plus(Times(step.momentum, *first), g);
    u = step.optimizer == Optimizer::kNesterov ? Plus(g, Times(step.momentum, *first)) : *first;
  }
  if (step.optimizer != Optimizer::kLamb) {
    volatile float moved = x - Times(step.rate, Plus(u, Times(step.decay, x)));
    x = StoredFloat(moved);
  }
  *first = StoredSlot(*first);
  if (second != nullptr) *second = StoredSlot(*second);
}

inline void NaiveUpdate(const OptimizerStep& step, float factor, std::span<const float> gradient,
                        std::span<float> x, std::vector<std::vector<float>>& slots) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    NaiveElement(step, factor == 1 ? gradient[i] : Times(gradient[i], factor), x[i], &slots[0][i],
                 slots.size() > 1 ? &slots[1][i] : nullptr);
  }
}

// The norm of `values`, of which element i of the model is values[i]; others count as 0.
inline double NaiveNorm(const std::map<std::uint64_t, float>& values) {
  std::vector<double> lanes(16);
  for (const auto& [place, value] : values) {
    lanes[place % 16] += static_cast<double>(value) * static_cast<double>(value);
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return std::sqrt(lanes[0]);
}

// MoveTensors for one tensor, whose applied coordinates are `places`.
inline void NaiveMove(const OptimizerStep& step, std::span<const std::uint64_t> places,
                      std::span<float> x, const std::vector<std::vector<float>>& slots) {
  std::map<std::uint64_t, float> weights;
  std::map<std::uint64_t, float> directions;
  for (const std::uint64_t at : places) {
    weights[at] = x[at];
    directions[at] =
        Plus(NaiveDirection(step, slots[0][at], slots[1][at]), Times(step.decay, x[at]));
  }
  const double length = NaiveNorm(weights);
  const double distance = NaiveNorm(directions);
  double trust = 1;
  if (length > 0 && distance > 0) trust = std::min(length / distance, 10.0);
  const float rate = Times(step.rate, static_cast<float>(trust));
  for (const std::uint64_t at : places) {
    volatile float moved = x[at] - Times(rate, directions[at]);
    x[at] = StoredFloat(moved);
  }
}

}  // namespace ostraka::aggregation::testing
