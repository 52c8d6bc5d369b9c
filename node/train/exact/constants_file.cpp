#include "node/train/exact/constants_file.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

#include "node/base/bytes.h"
#include "node/base/safetensors.h"

namespace ostraka::train {
namespace {

// Of safetensors headers, in bytes.
constexpr std::size_t kMostPadding = 8;

using Types = std::vector<base::TensorType>;

std::string HeaderOf(const base::TensorLayout& layout, const Types& types) {
  return base::SafetensorsHeader(layout, {{"format", "pt"}}, types);
}

base::TensorLayout ConstantLayout(const std::vector<exact::Constant>& constants) {
  base::TensorLayout layout;
  for (const exact::Constant& constant : constants) {
    layout.push_back({constant.name, {constant.type.shape.begin(), constant.type.shape.end()}});
  }
  return layout;
}

// A value is a bfloat16 if the lower half of its bits is zero.
bool AreBf16(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value)) == 0;
  });
}

std::string BytesAs(base::TensorType type, const std::vector<float>& values) {
  std::string bytes(values.size() * base::BytesOf(type), '\0');
  if (type == base::TensorType::kF32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t upper = std::bit_cast<std::uint32_t>(values[i]) >> 16;
    bytes[2 * i] = static_cast<char>(upper);
    bytes[2 * i + 1] = static_cast<char>(upper >> 8);
  }
  return bytes;
}

// REQUIRES: `bytes` are those of `count` values.
std::vector<float> ValuesOf(base::TensorType type, std::string_view bytes, std::size_t count) {
  std::vector<float> values(count);
  if (type == base::TensorType::kF32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto low = static_cast<unsigned char>(bytes[2 * i]);
    const auto high = static_cast<unsigned char>(bytes[2 * i + 1]);
    values[i] = base::WidenBf16(static_cast<std::uint16_t>(low | high << 8));
  }
  return values;
}

// What the header at the beginning of `bytes` says of `count` tensors; that it is such a header is
// still to be compared. One pass: each search begins where the last ended.
Types TypesIn(std::string_view bytes, std::size_t count) {
  constexpr std::string_view kKey = "\"dtype\":\"";
  Types types;
  std::size_t at = 0;
  while (types.size() < count && (at = bytes.find(kKey, at)) != bytes.npos) {
    at += kKey.size();
    types.push_back(bytes.substr(at).starts_with("BF16") ? base::TensorType::kBf16
                                                         : base::TensorType::kF32);
  }
  types.resize(count, base::TensorType::kF32);
  return types;
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
  Types types;
  std::string data;
  for (const exact::ConstantTensor& tensor : tensors) {
    layout.push_back({tensor.name, {tensor.shape.begin(), tensor.shape.end()}});
    const bool narrow = tensor.values.size() % 2 == 0 && AreBf16(tensor.values);
    types.push_back(narrow ? base::TensorType::kBf16 : base::TensorType::kF32);
    data += BytesAs(types.back(), tensor.values);
  }
  return HeaderOf(layout, types) + data;
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
  // A header that names BF16 may be longer by its padding, and the tensors are shorter then.
  std::string bytes(HeaderOf(ConstantLayout(graph.constants), {}).size() + kMostPadding +
                        FloatCount(graph) * sizeof(float) + 1,
                    '\0');
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
  const Types types = TypesIn(bytes, graph.constants.size());
  const std::string header = HeaderOf(ConstantLayout(graph.constants), types);
  std::uint64_t size = header.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    size += base::BytesOf(types[i]) * static_cast<std::uint64_t>(graph.constants[i].type.count());
  }
  if (!bytes.starts_with(header) || bytes.size() != size) {
    return base::InvalidArgument(
        "the constants' file is not one of this graph: `ostraka model make` and ostraka.export "
        "write it, with the graph's constants in its order");
  }
  bytes.remove_prefix(header.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const exact::Constant& constant = graph.constants[i];
    const auto count = static_cast<std::size_t>(constant.type.count());
    const std::string_view own = bytes.substr(0, count * base::BytesOf(types[i]));
    bytes.remove_prefix(own.size());
    std::vector<float> values = ValuesOf(types[i], own, count);
    if (exact::HashOfConstant(values) != constant.hash) {
      return base::InvalidArgument("constant " + constant.name +
                                   " has other values than the graph names");
    }
    constants.push_back(std::move(values));
  }
  return constants;
}

}  // namespace ostraka::train
