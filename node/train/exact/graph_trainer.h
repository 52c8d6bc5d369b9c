// The trainer of a graph over data, whatever computes its gradients: draws batches, cuts them into
// micro-batches, takes their mean, evaluates.
//
// Promises:
//   G1  a gradient over several micro-batches is ((g1 + g2) + ...) * (1 / count), in the order of
//       the rows.
//   G2  a gradient that is unwanted (Trainer::EndWhere) ends between two micro-batches.
//   G3  no gradient is given after the engine's AfterGradient has failed for it.
// May not know: peers, and what a gradient is used for.
// Memory: the data set, one micro-batch, two gradients, and the engine's.
// What an attacker can do here: write the graph file, which PrepareTask checks and plans first.
// Thread safety: as node/train/trainer.h has it; computes on the caller's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exact/graph/graph.h"
#include "exact/program/plan.h"
#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/exact/graph_engine.h"
#include "node/train/exact/micro_batch.h"
#include "node/train/trainer.h"

namespace ostraka::train {

// Of one micro-batch, with the parameters.
inline constexpr std::uint64_t kMaxPeakBytes = std::uint64_t{8} << 30;

// A graph and data that fit each other.
struct GraphTask {
  Dataset data;
  exact::Graph graph;                         // checked
  std::vector<std::vector<float>> constants;  // of the graph's sizes and hashes
  MicroBatch batch;
  exact::PlannedProgram plan;  // within kMaxPeakBytes, for one thread
};

// Everything that is checked before an engine is made. REQUIRES: CheckGraph(graph) is ok.
// InvalidArgument: sizes out of range; a graph that does not fit the data, or is too large for this
// machine; too few examples. Errors of ConstantsOf.
base::StatusOr<GraphTask> PrepareTask(const TrainerOptions& options, exact::Graph graph,
                                      Dataset data);

// Takes the data and the micro-batch of `task`. `engine` computes its graph. Errors of its Prepare.
base::StatusOr<std::unique_ptr<Trainer>> MakeGraphTrainer(GraphTask task,
                                                          const TrainerOptions& options,
                                                          std::unique_ptr<GraphEngine> engine);

}  // namespace ostraka::train
