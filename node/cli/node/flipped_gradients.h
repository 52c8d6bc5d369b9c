// The gradients that `ostraka node --attack label_flip` sends: of a trainer beside the node's own,
// over the run's data with flipped labels.
//
// Thread safety: the returned function has one thread at a time.
#pragma once

#include "node/base/status.h"
#include "node/protocol/ground/jobs.h"
#include "node/train/trainer.h"

namespace ostraka::cli {

// Errors of the data and of the trainer.
base::StatusOr<protocol::GradientFunction> FlippedGradients(const train::TrainerOptions& options);

}  // namespace ostraka::cli
