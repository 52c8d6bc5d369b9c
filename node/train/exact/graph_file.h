// Graph files as models of a run (docs/graph.md). A manifest names one by the hash of its bytes,
// and each peer says where its own copy is.
//   id      in a manifest: "graph@<64 hex digits>"
//   source  on a command line: "graph:FILE"
//
// What an attacker can do here: a file is an organiser's or a stranger's. At most kMaxGraphBytes
// are read, the graph is checked, and its memory is planned against a limit before anything runs.
//
// Thread safety: pure functions, except those that read files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "exact/graph/graph.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"

namespace ostraka::train {

inline constexpr std::string_view kGraphModel = "graph";

struct ModelId {
  std::string name;
  base::Digest graph = {};  // of model graph: GraphId of its file; else zero

  bool operator==(const ModelId&) const = default;
};

// InvalidArgument: a graph without a hash, or a malformed one. Other names are not checked.
base::StatusOr<ModelId> ParseModelId(std::string_view text);
std::string TextOf(const ModelId& id);

// A graph and what it names, as the files that have them.
struct GraphFiles {
  std::string text = {};
  std::string constants = {};  // node/train/exact/constants_file.h; empty if the graph has none
};

// At most one byte more than a graph may have, so that a huge file is refused by its size; without
// what editors of other systems add (node/base/foreign_text.h).
// NotFound, Unavailable: the file cannot be read.
base::StatusOr<std::string> ReadGraphFile(const std::string& path);

// Parses and checks. InvalidArgument: not the text of a graph that means something.
// FailedPrecondition: no text, because this machine has no copy of the file.
base::StatusOr<exact::Graph> GraphOf(std::string_view text);

// The text of the graph file at `path`, whose id must be `id`. FailedPrecondition, naming the path:
// a file of another id.
base::StatusOr<std::string> ReadGraphOf(const std::string& path, const base::Digest& id);

// The tensors that a state of the graph consists of, in its order.
base::TensorLayout LayoutOf(std::span<const exact::Parameter> parameters);

// The graph's input of this name; null if it has none.
const exact::Input* InputNamed(const exact::Graph& graph, std::string_view name);

// Examples of a micro-batch: the first extent of the graph's first input. REQUIRES: GraphOf took
// the graph. InvalidArgument: the graph has no input with an extent.
base::StatusOr<std::uint32_t> BatchOf(const exact::Graph& graph);

// Positions of a sequence, for a graph with the input "tokens", [batch, positions].
// InvalidArgument: the graph has no such input.
base::StatusOr<std::uint32_t> ContextOf(const exact::Graph& graph);

}  // namespace ostraka::train
