// Mimic: copy one honest worker, so that what it sees counts m times too often. It hides from every
// rule, for the rows that it sends are honest ones; where workers' data differ, the model is bent.
//
// Karimireddy, He, Jaggi, ICLR 2022 (bucketing), appendix. With a warm-up the victim is chosen: the
// direction z of the greatest variance among the honest rows is learnt by Oja's rule,
//   mu <- t/(t+1) mu + 1/(t+1) mean_i x_i
//   z  <- t/(t+1) z + 1/(t+1) sum_i (x_i - mu) <x_i - mu, z>, made of length 1 again,
// and after it the worker with the largest |sum over steps of <z, x_i - mu>| is copied for ever.
// (The paper projects all steps on the last z; here each step is projected on the z of that step,
// so that the state holds one number a worker.)
//
// Internal to aggregation, but for tests. Thread safety: pure function of its arguments and state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/attacks/attacks.h"

namespace ostraka::aggregation {

struct MimicOptions {
  std::uint64_t worker = 0;   // copied until the warm-up is over; by identity
  std::uint64_t warm_up = 0;  // steps; 0: `worker` is copied for ever
};

// The row of the chosen worker, or of the next by identity if it is not among the rows. REQUIRES:
// one row at least; `ids`, if not empty, are as many as rows.
std::vector<float> Mimic(const Rows& honest, std::span<const std::uint64_t> ids,
                         const MimicOptions& options, std::uint64_t seed, AttackState& state);

}  // namespace ostraka::aggregation
