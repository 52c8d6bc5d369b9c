// The work that `ostraka node` does under an attack on work (aggregation::Knowledge::kWork), by a
// trainer beside the node's own.
//
// Thread safety: the returned function has one thread at a time.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/protocol/ground/jobs.h"
#include "node/train/trainer.h"

namespace ostraka::cli {

// Errors of the data and of the trainer. REQUIRES: sim::IsOnWork(attack).
base::StatusOr<protocol::GradientFunction> OtherWork(const std::string& attack,
                                                     const train::TrainerOptions& options);

}  // namespace ostraka::cli
