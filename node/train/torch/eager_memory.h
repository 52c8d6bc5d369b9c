// How much memory libtorch may take for a gradient of a graph, before it takes any: it has no plan
// of its own, and holds most results until their gradients are known.
//
// What an attacker can do here: a graph file may name tensors of any size, and an attention whose
// scores take memory as the square of its positions. The sum counts them before anybody allocates.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "exact/graph/graph.h"

namespace ostraka::train {

// An upper bound in bytes, with the parameters, the gradient, the constants and a micro-batch. No
// close one: two to two and a half times what `gradient_bench --memory` measures. 2^62 if it is
// more.
// REQUIRES: CheckGraph(graph) is ok.
std::uint64_t EagerBytes(const exact::Graph& graph);

}  // namespace ostraka::train
