// SGD with (Nesterov-free) momentum and decoupled weight decay in a fixed order of operations: all
// peers must compute this update bit for bit. Each operation rounds to float32 once, in this order:
//   v' = momentum * v + g          (two roundings)
//   x' = x - rate * (v' + decay * x)
// Elementwise, no reduction, no fused operations. Stored as optimizer.h says.
//
// Thread safety: pure functions on disjoint ranges.
#pragma once

#include <span>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {

struct SgdOptions {
  float rate = 0;      // learning rate of this step
  float momentum = 0;  // in [0, 1)
  float decay = 0;     // weight decay, >= 0
};

// Updates `parameters` and `velocity` in place.
// REQUIRES: all three spans have one size.
void SgdStep(const SgdOptions& options, std::span<const float> gradient,
             std::span<float> parameters, std::span<float> velocity,
             const simd::Kernels& kernels = simd::BestKernels());

}  // namespace ostraka::aggregation
