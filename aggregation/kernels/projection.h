// A worker's numbers for its part in a column (docs/protocol/numbers.md): four projections of the
// clipped difference and the norm of the difference. The reduction order is fixed, so peers with
// equal parts and equal aggregates get equal bits.
//
//   D = part - aggregate;  norm = |D|;  w = min(1, tau / norm);  s_k = w <z_k, D> for k = 0..3
// with z_k = +-1/sqrt(p) per coordinate, p = part length >= 2, signs given as bits.
// Computed as s_k = (sum_c +-D_c / sqrt(p)) w, then limited to +-min(tau, norm). Rationale: by
// Cauchy and Schwarz no true value lies outside, but rounding could put an honest one an ulp
// beyond, where docs/protocol/numbers.md treats it as evidence.
//
// Non-finite input gives a non-finite norm and NaN. Callers with data from peers check parts first.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {

inline constexpr std::size_t kProjectionCount = 4;

struct Projection {
  std::array<double, kProjectionCount> s{};
  double norm = 0;
};

// Number of bytes of sign bits for a part of `length` floats: 4 planes of ceil(length / 8) bytes.
constexpr std::size_t SignBytes(std::size_t length) {
  return kProjectionCount * ((length + 7) / 8);
}

// Sign of z_k at coordinate c: bit c%8 of signs[k * ceil(p/8) + c/8]; 1 means minus.
// REQUIRES: part.size() == center.size(), signs.size() == SignBytes(part.size()), tau > 0.
Projection ClippedProjection(std::span<const float> part, std::span<const float> center, double tau,
                             std::span<const std::uint8_t> signs,
                             const simd::Kernels& kernels = simd::BestKernels());

// |values| in double, in the fixed reduction order of this folder.
double Norm(std::span<const float> values, const simd::Kernels& kernels = simd::BestKernels());

}  // namespace ostraka::aggregation
