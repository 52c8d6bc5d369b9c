// The toy trainer, for the simulator and protocol tests: no library, any dimension up to 2^27,
// bit-identical on every machine. toy_trainer.cpp describes the problem and its noise.
//
// Thread safety: plain values and pure functions; a trainer as in node/train/trainer.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// The toy's data: the distribution of examples (a, y), as far as a gradient depends on it.
// INVARIANT: both vectors have the problem's dimension, at least 1.
struct ToyProblem {
  std::vector<float> root_curvature;  // of each input a: its standard deviation
  std::vector<float> target;          // y = <a, target> + noise
};

// The problem that `options` name. InvalidArgument unless model and data are both "toy" and hidden
// and batch_size are in range.
base::StatusOr<ToyProblem> DrawToyProblem(const TrainerOptions& options);

// Errors as DrawToyProblem.
base::StatusOr<std::unique_ptr<Trainer>> MakeToyTrainer(const TrainerOptions& options);

// A trainer over another problem. REQUIRES: batch_size > 0.
std::unique_ptr<Trainer> MakeToyTrainerOver(ToyProblem problem, std::uint64_t batch_size);

}  // namespace ostraka::train
