// The trainer of graph files by libtorch: profile tolerant. Shows no libtorch.
//
// What an attacker can do here: write the graph file. It is checked, fitted to the data and planned
// as for exact kernels, and its memory under libtorch is bounded, before libtorch sees it.
#pragma once

#include <memory>

#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// InvalidArgument: a graph that does not fit the data, or that may take more than kMaxPeakBytes
// (node/train/exact/graph_trainer.h); sizes out of range. Errors of GraphOf and ConstantsOf.
// Internal: libtorch failed. REQUIRES: options.model is kGraphModel; UseThreads was called.
base::StatusOr<std::unique_ptr<Trainer>> MakeTorchGraphTrainer(const TrainerOptions& options,
                                                               Dataset data);

}  // namespace ostraka::train
