#include "node/store/weights_file.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "node/base/bytes.h"
#include "node/base/little_endian.h"
#include "node/base/safetensors.h"
#include "node/base/suggest.h"

namespace ostraka::store {
namespace {

using base::TensorSpec;

constexpr std::uint64_t kMaxHeader = std::uint64_t{16} << 20;
constexpr std::size_t kMaxNames = std::size_t{1} << 20;

enum class Type : std::uint8_t { kF32, kF16, kBf16 };

// A tensor as the header says it lies in the file.
struct Entry {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // in the file
  std::uint64_t end = 0;
};

base::Status NoWeights(const std::string& path, const std::string& why) {
  return base::InvalidArgument(path + ": holds no weights as safetensors: " + why);
}

std::string ShapeText(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  }
  return "[" + text + "]";
}

std::optional<std::vector<std::uint64_t>> CountsOf(const nlohmann::json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::uint64_t> counts;
  for (const auto& count : list) {
    if (!count.is_number_unsigned()) return std::nullopt;
    counts.push_back(count.get<std::uint64_t>());
  }
  return counts;
}

// `data`: where the tensors' bytes begin in the file, of `size` bytes.
std::optional<Entry> EntryOf(const nlohmann::json& value, std::uint64_t data, std::uint64_t size) {
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string()) {
    return std::nullopt;
  }
  const auto shape = value.contains("shape") ? CountsOf(value["shape"]) : std::nullopt;
  const auto place =
      value.contains("data_offsets") ? CountsOf(value["data_offsets"]) : std::nullopt;
  if (!shape || !place || place->size() != 2) return std::nullopt;
  const std::uint64_t begin = place->front();
  const std::uint64_t end = place->back();
  if (begin > end || end > size - data) return std::nullopt;
  return Entry{value["dtype"].get<std::string>(), *shape, data + begin, data + end};
}

std::optional<Type> TypeOf(const std::string& name) {
  if (name == "F32") return Type::kF32;
  if (name == "F16") return Type::kF16;
  if (name == "BF16") return Type::kBf16;
  return std::nullopt;
}

// The value of IEEE-754 binary16 bits.
float WidenHalf(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1F;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
  if (exponent == 0) {
    const float size = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -size : size;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

// REQUIRES: as many bytes as the floats have in that type.
void Widen(Type type, base::ByteView bytes, std::span<float> out) {
  if (type == Type::kF32) {
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto bits = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
    out[i] = type == Type::kF16 ? WidenHalf(bits) : base::WidenBf16(bits);
  }
}

base::StatusOr<std::uint64_t> SizeOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return base::NotFound(path + ": is not there");
  // A folder and a device tell no size.
  if (!std::filesystem::is_regular_file(path, error)) return NoWeights(path, "it is no file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return base::Unavailable(path + ": " + error.message());
  return size;
}

class WeightsFile {
 public:
  WeightsFile(std::istream& stream, std::uint64_t size, std::string name)
      : stream_(stream), size_(size), path_(std::move(name)) {}

  // REQUIRES: called first, once.
  base::Status ReadHeader() {
    if (size_ < base::kSafetensorsLengthBytes) return NoWeights(path_, "it is too short");
    ASSIGN_OR_RETURN(const base::Bytes start, ReadBytes(0, base::kSafetensorsLengthBytes));
    const std::uint64_t length = base::ReadLittleEndian(start);
    const std::uint64_t data = base::kSafetensorsLengthBytes + length;
    if (length > kMaxHeader || data > size_) {
      return NoWeights(path_, IsPickle(start)
                                  ? "it is a pickle, which is a program: save the weights with "
                                    "safetensors.torch.save_model(model, FILE)"
                                  : "its header is longer than it may be");
    }
    ASSIGN_OR_RETURN(const base::Bytes text, ReadBytes(base::kSafetensorsLengthBytes, length));
    const auto parsed =
        nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_object()) return NoWeights(path_, "its header is no JSON object");
    if (parsed.size() > kMaxNames) return NoWeights(path_, "it has too many tensors");
    for (const auto& [name, value] : parsed.items()) {
      if (name == base::kSafetensorsMetadata) continue;
      std::optional<Entry> entry = EntryOf(value, data, size_);
      if (!entry) return NoWeights(path_, "its header does not say where tensor " + name + " is");
      entries_.emplace(name, *std::move(entry));
    }
    return base::OkStatus();
  }

  const std::map<std::string, Entry>& entries() const { return entries_; }

  base::Status Read(const TensorSpec& tensor, std::span<float> out) {
    const auto found = entries_.find(tensor.name);
    if (found == entries_.end()) return Missing(tensor.name);
    const Entry& entry = found->second;
    if (entry.shape != tensor.shape) {
      return base::InvalidArgument(path_ + ": tensor " + tensor.name + " has the shape " +
                                   ShapeText(entry.shape) + ", in the model it has " +
                                   ShapeText(tensor.shape));
    }
    return ReadValues(tensor.name, entry, out);
  }

  base::StatusOr<std::vector<float>> ReadAll(const std::string& name, const Entry& entry) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : entry.shape) {
      if (extent > size_ || (extent > 0 && count > size_ / extent)) {
        return NoWeights(path_, "tensor " + name + " is larger than the file");
      }
      count *= extent;
    }
    if (count > (entry.end - entry.begin) / 2) return OtherSize(name);
    std::vector<float> values(count);
    RETURN_IF_ERROR(ReadValues(name, entry, values));
    return values;
  }

 private:
  base::Status OtherSize(const std::string& name) const {
    return NoWeights(path_, "tensor " + name + " has not as many bytes as its shape says");
  }

  base::Status ReadValues(const std::string& name, const Entry& entry, std::span<float> out) {
    const std::optional<Type> type = TypeOf(entry.type);
    if (!type) {
      return base::InvalidArgument(path_ + ": tensor " + name + " is of type " + entry.type +
                                   ": F32, F16 and BF16 are read");
    }
    const std::uint64_t width = type == Type::kF32 ? 4 : 2;
    if (entry.end - entry.begin != width * out.size()) {
      return OtherSize(name);
    }
    ASSIGN_OR_RETURN(const base::Bytes bytes, ReadBytes(entry.begin, entry.end - entry.begin));
    Widen(*type, bytes, out);
    for (const float value : out) {
      if (std::isfinite(value)) continue;
      return base::InvalidArgument(path_ + ": tensor " + name + " has a value that is not finite");
    }
    return base::OkStatus();
  }

  base::StatusOr<base::Bytes> ReadBytes(std::uint64_t begin, std::uint64_t count) {
    base::Bytes bytes(count);
    stream_.seekg(static_cast<std::streamoff>(begin));
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    if (!stream_) return base::Unavailable(path_ + ": cannot be read to its end");
    return bytes;
  }

  // Of torch.save: a zip archive, or before version 1.6 a bare pickle. As the length of a header
  // its first eight bytes are too large, while a true length may begin with the same two.
  static bool IsPickle(base::ByteView start) {
    return (start[0] == 'P' && start[1] == 'K') || (start[0] == 0x80 && start[1] < 6);
  }

  base::Status Missing(const std::string& name) const {
    std::vector<std::string> ends;  // the name after other prefixes, or without one
    for (const auto& [other, entry] : entries_) {
      if (name.ends_with("." + other) || other.ends_with("." + name)) ends.push_back(other);
    }
    if (!ends.empty()) {
      return base::InvalidArgument(path_ + ": has no tensor " + name + ", but " + ends.front() +
                                   ": save the weights of the very module that was exported");
    }
    std::vector<std::string> names;
    for (const auto& [other, entry] : entries_) names.push_back(other);
    const std::string closest = base::ClosestName(name, names);
    return base::InvalidArgument(
        path_ + ": has no tensor " + name +
        (closest.empty() ? ", which the model needs" : "; did you mean it by " + closest + "?"));
  }

  std::istream& stream_;
  std::uint64_t size_;
  std::string path_;  // for people
  std::map<std::string, Entry> entries_;
};

}  // namespace

base::StatusOr<Weights> ReadWeights(const std::string& path, const base::TensorLayout& layout) {
  ASSIGN_OR_RETURN(const std::uint64_t size, SizeOf(path));
  std::ifstream file(path, std::ios::binary);
  return ReadWeights(file, size, path, layout);
}

base::StatusOr<std::vector<NamedTensor>> ReadTensors(const std::string& path) {
  ASSIGN_OR_RETURN(const std::uint64_t size, SizeOf(path));
  std::ifstream stream(path, std::ios::binary);
  WeightsFile file(stream, size, path);
  RETURN_IF_ERROR(file.ReadHeader());
  std::vector<NamedTensor> tensors;
  for (const auto& [name, entry] : file.entries()) {
    ASSIGN_OR_RETURN(std::vector<float> values, file.ReadAll(name, entry));
    tensors.push_back({{name, entry.shape}, std::move(values)});
  }
  return tensors;
}

base::StatusOr<Weights> ReadWeights(std::istream& stream, std::uint64_t size,
                                    const std::string& name, const base::TensorLayout& layout) {
  WeightsFile file(stream, size, name);
  RETURN_IF_ERROR(file.ReadHeader());
  auto parameters = std::make_shared<std::vector<float>>(base::ElementCount(layout));
  Weights weights;
  std::size_t at = 0;
  std::map<std::string, Entry> unused = file.entries();
  for (const TensorSpec& tensor : layout) {
    const std::size_t count = tensor.element_count();
    RETURN_IF_ERROR(file.Read(tensor, std::span(*parameters).subspan(at, count)));
    at += count;
    unused.erase(tensor.name);
  }
  for (const auto& [name, entry] : unused) weights.unused.push_back(name);
  weights.parameters = std::move(parameters);
  return weights;
}

}  // namespace ostraka::store
