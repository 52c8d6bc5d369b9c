#include "node/cli/model/constants_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "node/base/little_endian.h"
#include "node/base/safetensors.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

// A header is small: names, shapes and offsets.
constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{64} << 20;

base::Status Refuse(const std::string& path, const std::string& reason) {
  return base::InvalidArgument(path + ": no safetensors file of float32 tensors: " + reason);
}

base::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return base::NotFound(path + ": cannot be opened");
  // A folder and a device tell no size.
  if (!std::filesystem::is_regular_file(path, error)) return Refuse(path, "it is no file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return base::NotFound(path + ": cannot be opened");
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    return base::Unavailable(path + ": cannot be read");
  }
  return bytes;
}

// One entry of the header, with its values out of `data`.
base::StatusOr<exact::ConstantTensor> ReadTensor(const std::string& name, const json& entry,
                                                 std::string_view data) {
  const auto is_count = [](const json& value) { return value.is_number_unsigned(); };
  const json shape = entry.value("shape", json());
  const json offsets = entry.value("data_offsets", json());
  if (entry.value("dtype", json()) != "F32" || !shape.is_array() || !offsets.is_array() ||
      offsets.size() != 2 || !std::all_of(shape.begin(), shape.end(), is_count) ||
      !std::all_of(offsets.begin(), offsets.end(), is_count)) {
    return base::InvalidArgument("tensor " + name + " is not F32 with a shape and offsets");
  }
  exact::ConstantTensor tensor{.name = name};
  std::uint64_t count = 1;
  for (const json& extent : shape) {
    const auto value = extent.get<std::uint64_t>();
    if (value > data.size() || (value > 0 && count > data.size() / value)) {
      return base::InvalidArgument("tensor " + name + " is larger than the file");
    }
    count *= value;
    tensor.shape.push_back(static_cast<std::int64_t>(value));
  }
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > data.size() || end - begin != count * sizeof(float)) {
    return base::InvalidArgument("tensor " + name + " lies outside of the file");
  }
  tensor.values.resize(count);
  std::memcpy(tensor.values.data(), data.data() + begin, end - begin);
  return tensor;
}

}  // namespace

base::StatusOr<std::vector<exact::ConstantTensor>> ReadTensors(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (bytes.size() < base::kSafetensorsLengthBytes) return Refuse(path, "it is too short");
  const std::string_view all = bytes;
  const std::uint64_t header_bytes =
      base::ReadLittleEndian(base::AsBytes(all.substr(0, base::kSafetensorsLengthBytes)));
  if (header_bytes > kMaxHeaderBytes ||
      header_bytes > bytes.size() - base::kSafetensorsLengthBytes) {
    return Refuse(path, "its header is longer than the file");
  }
  const std::string_view text = all.substr(base::kSafetensorsLengthBytes, header_bytes);
  const std::string_view data = all.substr(base::kSafetensorsLengthBytes + header_bytes);
  const json header = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return Refuse(path, "its header is no JSON object");
  std::vector<exact::ConstantTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (!entry.is_object()) return Refuse(path, "tensor " + name + " has no description");
    auto tensor = ReadTensor(name, entry, data);
    if (!tensor.ok()) return Refuse(path, base::MessageOf(tensor.status()));
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

}  // namespace ostraka::cli
