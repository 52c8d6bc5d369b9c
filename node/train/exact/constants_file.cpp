#include "node/train/exact/constants_file.h"

#include <cstring>
#include <fstream>

#include "node/base/bytes.h"
#include "node/base/safetensors.h"

namespace ostraka::train {
namespace {

std::string HeaderOf(const base::TensorLayout& layout) {
  return base::SafetensorsHeader(layout, {{"format", "pt"}});
}

std::string HeaderOf(const exact::Graph& graph) {
  base::TensorLayout layout;
  for (const exact::Constant& constant : graph.constants) {
    layout.push_back({constant.name, {constant.type.shape.begin(), constant.type.shape.end()}});
  }
  return HeaderOf(layout);
}

std::uint64_t FloatCount(const exact::Graph& graph) {
  std::uint64_t count = 0;
  for (const exact::Constant& constant : graph.constants) {
    count += static_cast<std::uint64_t>(constant.type.count());
  }
  return count;
}

}  // namespace

std::string ConstantsBeside(const std::string& graph_file) {
  return graph_file + ".constants.safetensors";
}

std::string ConstantsBytes(const std::vector<exact::ConstantTensor>& tensors) {
  base::TensorLayout layout;
  std::string data;
  for (const exact::ConstantTensor& tensor : tensors) {
    layout.push_back({tensor.name, {tensor.shape.begin(), tensor.shape.end()}});
    const base::ByteView values = base::AsBytes(std::span<const float>(tensor.values));
    data.append(reinterpret_cast<const char*>(values.data()), values.size());
  }
  return HeaderOf(layout) + data;
}

base::StatusOr<std::string> ReadConstants(const std::string& graph_file,
                                          const exact::Graph& graph) {
  if (graph.constants.empty()) return std::string();
  const std::string path = ConstantsBeside(graph_file);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return base::NotFound(path +
                          ": cannot be opened: the graph has constants, and they must be there");
  }
  std::string bytes(HeaderOf(graph).size() + FloatCount(graph) * sizeof(float) + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) return base::Unavailable(path + ": cannot be read");
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

base::StatusOr<std::vector<std::vector<float>>> ConstantsOf(const exact::Graph& graph,
                                                            std::string_view bytes) {
  std::vector<std::vector<float>> constants;
  if (graph.constants.empty()) return constants;
  if (bytes.empty()) {
    return base::FailedPrecondition("the graph has constants, such as " + graph.constants[0].name +
                                    ", and their file is not here: it belongs beside the graph's");
  }
  const std::string header = HeaderOf(graph);
  if (!bytes.starts_with(header) ||
      bytes.size() - header.size() != FloatCount(graph) * sizeof(float)) {
    return base::InvalidArgument(
        "the constants' file is not one of this graph: `ostraka model make` and ostraka.export "
        "write "
        "it, with the graph's constants in its order");
  }
  const char* at = bytes.data() + header.size();
  for (const exact::Constant& constant : graph.constants) {
    std::vector<float> values(static_cast<std::size_t>(constant.type.count()));
    std::memcpy(values.data(), at, values.size() * sizeof(float));
    at += values.size() * sizeof(float);
    if (exact::HashOfConstant(values) != constant.hash) {
      return base::InvalidArgument("constant " + constant.name +
                                   " has other values than the graph names");
    }
    constants.push_back(std::move(values));
  }
  return constants;
}

}  // namespace ostraka::train
