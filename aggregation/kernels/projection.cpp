#include "aggregation/kernels/projection.h"

#include <algorithm>
#include <cmath>

#include "aggregation/kernels/clip_factor.h"
#include "node/base/check.h"

namespace ostraka::aggregation {

Projection ClippedProjection(std::span<const float> part, std::span<const float> center, double tau,
                             std::span<const std::uint8_t> signs, const simd::Kernels& kernels) {
  const std::size_t length = part.size();
  OSTRAKA_CHECK(center.size() == length && signs.size() == SignBytes(length) && tau > 0);
  const std::size_t plane_bytes = SignBytes(length) / kProjectionCount;
  std::array<double, kProjectionCount> sums{};
  double squared_norm = 0;
  for (std::size_t offset = 0; offset < length; offset += simd::kBlock) {
    const std::uint8_t* planes[kProjectionCount];
    for (std::size_t k = 0; k < kProjectionCount; ++k) {
      planes[k] = signs.data() + k * plane_bytes + offset / 8;
    }
    kernels.project(part.data() + offset, center.data() + offset,
                    std::min(simd::kBlock, length - offset), planes, sums.data(), &squared_norm);
  }
  Projection result;
  result.norm = std::sqrt(squared_norm);
  const double weight = ClipFactor(result.norm, tau);
  const double limit = std::min(tau, result.norm);
  const double root = std::sqrt(static_cast<double>(length));
  for (std::size_t k = 0; k < kProjectionCount; ++k) {
    result.s[k] = std::clamp((sums[k] / root) * weight, -limit, limit);
  }
  return result;
}

double Norm(std::span<const float> values, const simd::Kernels& kernels) {
  double squared_norm = 0;
  for (std::size_t offset = 0; offset < values.size(); offset += simd::kBlock) {
    squared_norm += kernels.squared_norm(values.data() + offset,
                                         std::min(simd::kBlock, values.size() - offset));
  }
  return std::sqrt(squared_norm);
}

}  // namespace ostraka::aggregation
