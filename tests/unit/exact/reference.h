// The loss of a graph in double, written for clarity: an implementation that shares nothing with
// exact/program and exact/run.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/graph/graph.h"

namespace ostraka::exact::testing {

struct ReferenceInputs {
  std::vector<std::vector<double>> constants;
  std::vector<std::vector<double>> floats;          // of each input; empty for integers
  std::vector<std::vector<std::int32_t>> integers;  // of each input; empty for floats
};

// REQUIRES: CheckGraph(graph) is ok; sizes are the graph's.
double ReferenceLoss(const Graph& graph, const std::vector<double>& parameters,
                     const ReferenceInputs& inputs);

}  // namespace ostraka::exact::testing
