// The frozen tensors that a graph names by their hashes: one file beside the graph's.
//
//   GRAPH.constants.safetensors: float32 tensors, exactly the graph's constants, in its order, in
//   the one form that node/base/safetensors.h writes.
//
// `ostraka model make` and ostraka.export write it.
// What an attacker can do here: a file is an organiser's or a stranger's. At most as many bytes are
// read as the graph's constants take, and every tensor's hash must be the graph's.
//
// Thread safety: pure functions, except ReadConstants.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exact/graph/graph.h"
#include "exact/models/models.h"
#include "node/base/status.h"

namespace ostraka::train {

// Where the constants of the graph file at `graph_file` are.
std::string ConstantsBeside(const std::string& graph_file);

// The bytes of a file of these tensors.
std::string ConstantsBytes(const std::vector<exact::ConstantTensor>& tensors);

// The bytes of the file at ConstantsBeside(graph_file); empty if `graph` has no constants, whatever
// is there. At most one byte more than they take. NotFound, naming the file: it cannot be opened.
// Unavailable: it cannot be read.
base::StatusOr<std::string> ReadConstants(const std::string& graph_file, const exact::Graph& graph);

// The floats of each constant of `graph`. InvalidArgument: `bytes` is no such file, or a tensor has
// another hash. FailedPrecondition: there are no bytes, because this machine has no copy.
base::StatusOr<std::vector<std::vector<float>>> ConstantsOf(const exact::Graph& graph,
                                                            std::string_view bytes);

}  // namespace ostraka::train
