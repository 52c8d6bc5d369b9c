// What libtorch makes of a problem (node/train/torch/torch_graph.h).
#pragma once

#include "node/train/torch/torch_graph.h"
#include "node/train/torch/torch_runtime.h"
#include "tests/unit/exact/problem.h"

namespace ostraka::exact::testing {

// Its graph with its values in place, ready to run on so many threads.
inline train::TorchGraph TorchGraphOf(const Problem& problem, int threads) {
  train::UseThreads(threads);
  train::TorchGraph graph(problem.graph, problem.constants);
  graph.SetParameters(problem.parameters);
  graph.SetInputs(problem.inputs());
  return graph;
}

inline Gradient TorchGradientOf(const Problem& problem, int threads = 1) {
  train::TorchGraph graph = TorchGraphOf(problem, threads);
  graph.Run();
  Gradient result{.loss = graph.loss(), .values = std::vector<float>(problem.parameters.size())};
  graph.CopyGradient(result.values);
  return result;
}

}  // namespace ostraka::exact::testing
