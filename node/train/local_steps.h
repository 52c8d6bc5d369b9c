// The work of a worker in one step: its gradient, or its local steps (docs/numerics.md, 8 and 10).
//
// Thread safety: as a trainer's Gradient (trainer.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aggregation/optim/local_steps.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

struct Work {
  std::span<const float> parameters;
  const Digest& batch_seed;
  std::uint32_t batches = 1;  // that each gradient is the mean of
  aggregation::LocalSteps local = {};
  bool again = false;  // by GradientAgain
};

struct Worked {
  // d floats: the gradient; with local steps x - y, or zeros where their rate is 0. Non-finite only
  // without local steps.
  std::vector<float> values;
  std::optional<double> batch_loss;  // BatchLoss of the first batch, at `parameters`
};

// Asks before each gradient whether it is wanted (Trainer::CheckWanted). The errors of Gradient.
// REQUIRES: as Gradient.
base::StatusOr<Worked> WorkOf(Trainer& trainer, const Work& work);

// The seed of batch `batch` of local step `step` of a worker whose batch seed is `seed`. One batch
// and no local steps have that seed itself.
Digest InnerBatchSeed(const Digest& seed, std::uint64_t step, std::uint32_t batch);

}  // namespace ostraka::train
