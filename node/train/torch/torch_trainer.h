// The trainer that uses libtorch. The header shows no libtorch, so torch_module.cpp compiles fast.
#pragma once

#include <memory>

#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Sets the process's libtorch and BLAS to one thread: nodes of a swarm share few cores, and a
// machine's gradient must not depend on the number of free cores. InvalidArgument: options that the
// models or `data` cannot serve. Internal: libtorch failed.
base::StatusOr<std::unique_ptr<Trainer>> MakeTorchTrainer(const TrainerOptions& options,
                                                          Dataset data);

}  // namespace ostraka::train
