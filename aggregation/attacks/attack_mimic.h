// Mimic: copies one honest worker, whose data then count m times too often. Every rule sees only
// honest rows, so none detects it; where workers' data differ, the model is biased.
//
// Karimireddy, He, Jaggi, ICLR 2022 (bucketing), appendix. A warm-up chooses the victim. It learns
// the direction z of the greatest variance among the honest rows by Oja's rule,
//   mu <- t/(t+1) mu + 1/(t+1) mean_i x_i
//   z  <- t/(t+1) z + 1/(t+1) sum_i (x_i - mu) <x_i - mu, z>, normalized to length 1,
// and then copies for ever the worker with the largest |sum over steps of <z, x_i - mu>|. (The
// paper projects all steps on the last z. Here each step is projected on the z of that step, so
// that the state holds one number per worker.)
//
// Internal to aggregation, except for tests. Thread safety: pure function of its arguments and
// state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/attacks/attacks.h"

namespace ostraka::aggregation {

struct MimicOptions {
  std::uint64_t worker = 0;   // copied until the warm-up is over; an identity
  std::uint64_t warm_up = 0;  // steps; 0: `worker` is copied for ever
};

// The row of the chosen worker, or of the next identity if it is absent. REQUIRES: at least one
// row; `ids` is empty or has one id per row.
std::vector<float> Mimic(const Rows& honest, std::span<const std::uint64_t> ids,
                         const MimicOptions& options, std::uint64_t seed, AttackState& state);

}  // namespace ostraka::aggregation
