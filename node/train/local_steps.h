// The work of a worker in one step: its gradient, or its local steps (docs/numerics.md, 8 and 10).
//
// Thread safety: as a trainer's Gradient (trainer.h).
#pragma once

#include <cstdint>
#include <functional>
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
  aggregation::LocalSteps local = {};
  bool again = false;  // by GradientAgain
  // Null: never. Asked before each gradient; trainers ask their own between micro-batches.
  std::function<bool()> unwanted = {};
  // Where the BatchLoss of the first gradient is put, at `parameters`; null: nowhere.
  std::optional<double>* batch_loss = nullptr;
};

// d floats: the gradient on the batch of `batch_seed`; with local steps x - y, or zeros where their
// rate is 0. The result may be non-finite only without local steps. Cancelled where `unwanted`
// says so; the errors of Gradient.
// REQUIRES: as Gradient.
base::StatusOr<std::vector<float>> WorkOf(Trainer& trainer, const Work& work);

// The batch seed of local step `step` of a worker whose batch seed is `seed`.
Digest InnerBatchSeed(const Digest& seed, std::uint64_t step);

}  // namespace ostraka::train
