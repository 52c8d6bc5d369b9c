#include "node/train/exact/graph_file.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "exact/graph/check.h"
#include "exact/graph/graph_text.h"
#include "node/base/foreign_text.h"

namespace ostraka::train {

base::StatusOr<ModelId> ParseModelId(std::string_view text) {
  const std::size_t at = text.find('@');
  ModelId id{.name = std::string(text.substr(0, at))};
  if (id.name != kGraphModel && at == std::string_view::npos) return id;
  const auto hash = at == std::string_view::npos ? std::nullopt
                                                 : base::Digest::FromHexDigits(text.substr(at + 1));
  if (id.name != kGraphModel || !hash || hash->is_zero()) {
    return base::InvalidArgument("model '" + std::string(text) + "' must be " +
                                 (id.name == kGraphModel ? "graph@<hash of its file>" : id.name) +
                                 ": let `ostraka run init` write the manifest");
  }
  id.graph = *hash;
  return id;
}

std::string TextOf(const ModelId& id) {
  return id.graph.is_zero() ? id.name : id.name + "@" + id.graph.Hex();
}

base::StatusOr<std::string> ReadGraphFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::NotFound(path + ": cannot be opened");
  std::string text(exact::kMaxGraphBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return base::Unavailable(path + ": cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > exact::kMaxGraphBytes) return text;  // cut, and to be refused
  // A graph's canonical text has no such marks: a copy with them is still the graph.
  return base::WithoutForeignMarks(text);
}

base::StatusOr<exact::Graph> GraphOf(std::string_view text) {
  if (text.empty()) {
    return base::FailedPrecondition(
        "the run trains a graph: say where your copy of its file is with --graph FILE");
  }
  ASSIGN_OR_RETURN(exact::Graph graph, exact::ParseGraph(text));
  RETURN_IF_ERROR(exact::CheckGraph(graph));
  return graph;
}

base::StatusOr<std::string> ReadGraphOf(const std::string& path, const base::Digest& id) {
  auto read = ReadGraphFile(path);
  if (!read.ok()) {
    return base::MakeStatus(read.status().code(),
                            base::MessageOf(read.status()) + ": give the run's graph file");
  }
  std::string text = *std::move(read);
  const base::Digest mine = exact::GraphId(text);
  if (mine == id) return text;
  return base::FailedPrecondition("the run trains graph " + id.Short() + ", " + path + " is " +
                                  mine.Short() + ": get the other members' file");
}

base::TensorLayout LayoutOf(std::span<const exact::Parameter> parameters) {
  base::TensorLayout layout;
  for (const exact::Parameter& each : parameters) {
    layout.push_back({each.name, {each.type.shape.begin(), each.type.shape.end()}});
  }
  return layout;
}

const exact::Input* InputNamed(const exact::Graph& graph, std::string_view name) {
  const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [name](const exact::Input& input) { return input.name == name; });
  return found == graph.inputs.end() ? nullptr : &*found;
}

base::StatusOr<std::uint32_t> BatchOf(const exact::Graph& graph) {
  if (graph.inputs.empty() || graph.inputs.front().type.shape.empty()) {
    return base::InvalidArgument("the graph has no input of examples");
  }
  // Below 2^31: CheckGraph limits a tensor's elements.
  return static_cast<std::uint32_t>(graph.inputs.front().type.shape.front());
}

base::StatusOr<std::uint32_t> ContextOf(const exact::Graph& graph) {
  const exact::Input* tokens = InputNamed(graph, "tokens");
  if (tokens == nullptr || tokens->type.shape.size() != 2) {
    return base::InvalidArgument(
        "the graph reads no text: it has no input tokens of [batch, positions]");
  }
  return static_cast<std::uint32_t>(tokens->type.shape[1]);
}

}  // namespace ostraka::train
