// The trainer that computes with libtorch. Shows no libtorch, so that torch_module.cpp is cheap.
#pragma once

#include <memory>

#include "node/base/status.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Sets the process's libtorch and BLAS to one thread: nodes of a swarm share few cores, and a
// gradient of one machine must not depend on how many it has free.
// InvalidArgument: options that the models or data cannot serve. Internal: libtorch failed.
base::StatusOr<std::unique_ptr<Trainer>> MakeTorchTrainer(const TrainerOptions& options);

}  // namespace ostraka::train
