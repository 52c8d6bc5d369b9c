#include "aggregation/optim/sgd.h"

#include "node/base/check.h"

namespace ostraka::aggregation {

void SgdStep(const SgdOptions& options, std::span<const float> gradient,
             std::span<float> parameters, std::span<float> velocity, const simd::Kernels& kernels) {
  OSTRAKA_CHECK(gradient.size() == parameters.size() && velocity.size() == parameters.size());
  kernels.sgd(options.rate, options.momentum, options.decay, gradient.data(), parameters.data(),
              velocity.data(), parameters.size());
}

}  // namespace ostraka::aggregation
