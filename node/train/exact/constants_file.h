// The frozen tensors that a graph names by their hashes: one file beside the graph's.
//
//   GRAPH.constants.safetensors: exactly the graph's constants, in its order, in the form that
//   node/base/safetensors.h writes, each F32 or BF16. A tensor of bfloat16 is widened, which is
//   exact, and its hash is of the float32 values: one graph may have either file.
//
// Rationale: a frozen base is most of a model's bytes, and mostly published as bfloat16. It lies on
// the disk and in a link in half the bytes.
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

// The bytes of a file of these tensors. BF16 are those whose values all are bfloat16, if they are
// an even number: what follows them stays aligned to 4 bytes, as torch's readers want it.
std::string ConstantsBytes(const std::vector<exact::ConstantTensor>& tensors);

// The bytes of the file at ConstantsBeside(graph_file); empty if `graph` has no constants, whatever
// is there. At most a few bytes more than they may take. NotFound, naming the file: it cannot be
// opened. Unavailable: it cannot be read.
base::StatusOr<std::string> ReadConstants(const std::string& graph_file, const exact::Graph& graph);

// The floats of each constant of `graph`. InvalidArgument: `bytes` is no such file, or a tensor has
// another hash. FailedPrecondition: there are no bytes, because this machine has no copy.
base::StatusOr<std::vector<std::vector<float>>> ConstantsOf(const exact::Graph& graph,
                                                            std::string_view bytes);

}  // namespace ostraka::train
