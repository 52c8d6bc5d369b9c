#include "node/store/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "crypto/parameters_root.h"
#include "node/base/little_endian.h"
#include "node/os/durable_file.h"

namespace ostraka::store {
namespace {

namespace fs = std::filesystem;
using base::TensorLayout;
using base::TensorSpec;
using nlohmann::json;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";
constexpr std::string_view kOptimizer = "optimizer.";
constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 20;

std::optional<std::uint64_t> ParseStep(std::string_view text) {
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  // Accept only the exact name that WriteCheckpoint gives: "step-007" is refused.
  if (error != std::errc() || std::to_string(step) != text) return std::nullopt;
  return step;
}

std::optional<std::uint64_t> StepOfName(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  return ParseStep(name);
}

// Parameters and then each slot, each in layout order.
TensorLayout FileLayout(const TensorLayout& layout, const protocol::SlotNames& slots) {
  TensorLayout all = layout;
  for (const std::string& slot : slots) {
    for (const TensorSpec& tensor : layout) {
      all.push_back({std::string(kOptimizer) + slot + "." + tensor.name, tensor.shape});
    }
  }
  return all;
}

base::SafetensorsMetadata FileMetadata(const Checkpoint& checkpoint) {
  base::SafetensorsMetadata metadata = checkpoint.metadata;
  metadata["format"] = "pt";  // readers in PyTorch's ecosystem look for this
  metadata["producer"] = "ostraka";
  metadata["step"] = std::to_string(checkpoint.step);
  metadata["state_root"] = protocol::StateRoot(checkpoint.state, checkpoint.layout).Hex();
  return metadata;
}

base::ByteView BytesOf(const protocol::SharedVector& values) {
  return base::AsBytes(std::span<const float>(*values));
}

// --- reading ------------------------------------------------------------------------------------

base::Status NotOurs(const std::string& path, const std::string& why) {
  return base::InvalidArgument(path + ": is no checkpoint of ostraka, or damaged: " + why);
}

// Metadata and tensors from a header; nullopt for any other content.
struct Header {
  base::SafetensorsMetadata metadata;
  TensorLayout layout;
};
std::optional<Header> ParseHeader(std::string_view text) {
  const auto parsed = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return std::nullopt;
  Header header;
  for (const auto& [name, value] : parsed.items()) {
    if (!value.is_object()) return std::nullopt;
    if (name == base::kSafetensorsMetadata) {
      for (const auto& [key, entry] : value.items()) {
        if (!entry.is_string()) return std::nullopt;
        header.metadata[key] = entry.get<std::string>();
      }
      continue;
    }
    const auto shape = value.find("shape");
    if (shape == value.end() || !shape->is_array()) return std::nullopt;
    TensorSpec& tensor = header.layout.emplace_back(TensorSpec{name, {}});
    for (const auto& extent : *shape) {
      if (!extent.is_number_unsigned()) return std::nullopt;
      tensor.shape.push_back(extent.get<std::uint64_t>());
    }
  }
  return header;
}

struct StateShape {
  TensorLayout layout;  // of the parameters
  protocol::SlotNames slots;
};
// The shape of a state whose FileLayout is `all`, with the slots of one of the optimizers.
std::optional<StateShape> ShapeOf(const TensorLayout& all) {
  for (const aggregation::Optimizer optimizer : aggregation::AllOptimizers()) {
    const protocol::SlotNames slots = protocol::SlotNamesOf(optimizer);
    const auto own = static_cast<std::ptrdiff_t>(all.size() / (1 + slots.size()));
    TensorLayout layout(all.begin(), all.begin() + own);
    if (own > 0 && FileLayout(layout, slots) == all) return StateShape{std::move(layout), slots};
  }
  return std::nullopt;
}

// Number of elements in `layout` if it is at most `limit`. Attack: a hostile shape must not
// overflow.
std::optional<std::uint64_t> BoundedCount(const TensorLayout& layout, std::uint64_t limit) {
  std::uint64_t total = 0;
  for (const TensorSpec& tensor : layout) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : tensor.shape) {
      if (extent == 0 || count > limit / extent) return std::nullopt;
      count *= extent;
    }
    if (count > limit - total) return std::nullopt;
    total += count;
  }
  return total;
}

base::StatusOr<std::string> ReadBytes(std::ifstream& file, const std::string& path,
                                      std::size_t count) {
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  if (!file) return base::Unavailable(path + ": cannot be read to its end");
  return bytes;
}

base::StatusOr<protocol::SharedVector> ReadFloats(std::ifstream& file, const std::string& path,
                                                  std::size_t count) {
  auto values = std::make_shared<std::vector<float>>(count);
  file.read(reinterpret_cast<char*>(values->data()),
            static_cast<std::streamsize>(count * sizeof(float)));
  if (!file) return base::Unavailable(path + ": cannot be read to its end");
  return protocol::SharedVector(std::move(values));
}

// A file that is read up to its first tensor.
struct TensorFile {
  std::ifstream stream;
  std::string header_text;  // with the length before it
  Header header;
  std::uint64_t data_bytes = 0;  // of all tensors
};

base::StatusOr<TensorFile> OpenTensors(const std::string& path) {
  std::error_code error;
  const std::uintmax_t file_bytes = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    return base::NotFound(path + ": is not there");
  }
  if (error) return base::Unavailable(path + ": " + error.message());
  TensorFile file{.stream = std::ifstream(path, std::ios::binary)};
  if (file_bytes < base::kSafetensorsLengthBytes) return NotOurs(path, "it is cut short");
  ASSIGN_OR_RETURN(const std::string length,
                   ReadBytes(file.stream, path, base::kSafetensorsLengthBytes));
  const std::uint64_t header_bytes =
      base::ReadLittleEndian(base::AsBytes(std::string_view(length)));
  if (header_bytes > kMaxHeaderBytes || header_bytes > file_bytes - base::kSafetensorsLengthBytes) {
    return NotOurs(path, "its header is longer than it may be");
  }
  ASSIGN_OR_RETURN(const std::string text, ReadBytes(file.stream, path, header_bytes));
  auto header = ParseHeader(text);
  if (!header) return NotOurs(path, "its header is no header");
  file.header_text = length + text;
  file.header = *std::move(header);
  file.data_bytes = file_bytes - base::kSafetensorsLengthBytes - header_bytes;
  return file;
}

}  // namespace

std::string CheckpointFolder(const std::string& data_dir) { return data_dir + "/checkpoints"; }

std::string CheckpointPath(const std::string& data_dir, std::uint64_t step) {
  return CheckpointFolder(data_dir) + "/" + std::string(kPrefix) + std::to_string(step) +
         std::string(kSuffix);
}

std::vector<CheckpointFile> ListCheckpoints(const std::string& data_dir) {
  std::vector<CheckpointFile> files;
  std::error_code error;  // an unreadable folder counts as empty
  fs::directory_iterator entry(CheckpointFolder(data_dir), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto step = StepOfName(entry->path().filename().string());
    if (step) files.push_back({*step, entry->path().string()});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  return files;
}

base::Status RemoveUnfinished(const std::string& data_dir) {
  const std::string left = std::string(kSuffix) + ".tmp";  // os::WriteDurably
  for (const std::string& folder : {CheckpointFolder(data_dir), ParametersFolder(data_dir)}) {
    std::error_code none;  // an unreadable folder counts as empty
    std::vector<fs::path> unfinished;
    for (fs::directory_iterator entry(folder, none); !none && entry != fs::directory_iterator();
         entry.increment(none)) {
      if (entry->path().string().ends_with(left)) unfinished.push_back(entry->path());
    }
    for (const fs::path& path : unfinished) {
      std::error_code error;
      fs::remove(path, error);
      if (error) {
        return base::Unavailable("cannot remove " + path.string() + ": " + error.message());
      }
    }
  }
  return base::OkStatus();
}

base::Status WriteCheckpoint(const std::string& data_dir, const Checkpoint& checkpoint) {
  const std::string path = CheckpointPath(data_dir, checkpoint.step);
  std::error_code error;
  fs::create_directory(CheckpointFolder(data_dir), error);
  if (error) return base::Unavailable("cannot write " + path + ": " + error.message());
  const protocol::ModelState& state = checkpoint.state;
  const std::string header = base::SafetensorsHeader(
      FileLayout(checkpoint.layout, protocol::SlotNamesOf(state)), FileMetadata(checkpoint));
  std::vector<base::ByteView> pieces = {base::AsBytes(header), BytesOf(state.parameters)};
  for (const protocol::StateSlot& slot : state.slots) pieces.push_back(BytesOf(slot.values));
  return os::WriteDurably(path, pieces, os::IfExists::kReplace);
}

base::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  ASSIGN_OR_RETURN(TensorFile file, OpenTensors(path));
  const Header& header = file.header;
  const auto shape = ShapeOf(header.layout);
  const auto count =
      shape ? BoundedCount(shape->layout, file.data_bytes / sizeof(float)) : std::nullopt;
  if (!count || (1 + shape->slots.size()) * *count * sizeof(float) != file.data_bytes) {
    return NotOurs(path, "its tensors are not those of its header");
  }
  // The header must equal, byte for byte, the one that WriteCheckpoint would write.
  if (base::SafetensorsHeader(header.layout, header.metadata) != file.header_text) {
    return NotOurs(path, "its header has another form");
  }
  Checkpoint checkpoint{
      .step = 0, .layout = shape->layout, .state = {}, .metadata = header.metadata};
  const auto step_text = checkpoint.metadata.find("step");
  const auto step =
      step_text == checkpoint.metadata.end() ? std::nullopt : ParseStep(step_text->second);
  if (!step) return NotOurs(path, "it does not say its step");
  checkpoint.step = *step;
  ASSIGN_OR_RETURN(checkpoint.state.parameters, ReadFloats(file.stream, path, *count));
  for (const std::string& slot : shape->slots) {
    ASSIGN_OR_RETURN(auto values, ReadFloats(file.stream, path, *count));
    checkpoint.state.slots.push_back({slot, std::move(values)});
  }
  if (FileMetadata(checkpoint) != header.metadata) {
    return NotOurs(path, "its state root is not that of its tensors");
  }
  return checkpoint;
}

base::StatusOr<CheckpointFile> ChooseCheckpoint(const std::string& data_dir,
                                                std::optional<std::uint64_t> step) {
  const std::vector<CheckpointFile> files = ListCheckpoints(data_dir);
  if (files.empty()) {
    return base::NotFound(
        CheckpointFolder(data_dir) +
        " holds no state yet: the node writes one every 100 steps (--checkpoint-every) and "
        "at its end");
  }
  if (!step) return files.back();
  std::string steps;
  for (const CheckpointFile& file : files) {
    if (file.step == *step) return file;
    steps += " " + std::to_string(file.step);
  }
  return base::NotFound(CheckpointFolder(data_dir) + " holds no state of step " +
                        std::to_string(*step) + "; it has:" + steps);
}

base::StatusOr<Checkpoint> ReadChosenCheckpoint(const std::string& data_dir,
                                                std::optional<std::uint64_t> step) {
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    ASSIGN_OR_RETURN(const CheckpointFile file, ChooseCheckpoint(data_dir, step));
    auto checkpoint = ReadCheckpoint(file.path);
    if (checkpoint.ok() || checkpoint.status().code() != absl::StatusCode::kNotFound ||
        attempt == kAttempts) {
      return checkpoint;
    }
  }
}

base::Status WriteModel(const std::string& path, const Checkpoint& checkpoint) {
  const std::string header = base::SafetensorsHeader(checkpoint.layout, FileMetadata(checkpoint));
  const std::array pieces = {base::AsBytes(header), BytesOf(checkpoint.state.parameters)};
  return os::WriteDurably(path, pieces, os::IfExists::kRefuse);
}

std::string ParametersFolder(const std::string& data_dir) { return data_dir + "/evidence"; }

std::string ParametersPath(const std::string& data_dir, std::uint64_t step) {
  return ParametersFolder(data_dir) + "/parameters-" + std::to_string(step) + std::string(kSuffix);
}

base::Status WriteParameters(const std::string& data_dir, const Checkpoint& parameters) {
  const std::string path = ParametersPath(data_dir, parameters.step);
  std::error_code error;
  fs::create_directory(ParametersFolder(data_dir), error);
  if (error) return base::Unavailable("cannot write " + path + ": " + error.message());
  base::SafetensorsMetadata metadata = parameters.metadata;
  metadata["format"] = "pt";
  metadata["producer"] = "ostraka";
  metadata["gradient_step"] = std::to_string(parameters.step);
  metadata["parameters_root"] = crypto::ParametersRoot(*parameters.state.parameters).Hex();
  const std::string header = base::SafetensorsHeader(parameters.layout, metadata);
  const std::array pieces = {base::AsBytes(header), BytesOf(parameters.state.parameters)};
  return os::WriteDurably(path, pieces, os::IfExists::kReplace);
}

base::StatusOr<protocol::SharedVector> ReadParameters(const std::string& path,
                                                      const TensorLayout& layout) {
  ASSIGN_OR_RETURN(TensorFile file, OpenTensors(path));
  const TensorLayout& all = file.header.layout;
  if (all.size() < layout.size() || !std::equal(layout.begin(), layout.end(), all.begin())) {
    return base::InvalidArgument(path + ": its tensors are not those of the run's model");
  }
  const std::uint64_t count = base::ElementCount(layout);
  if (count > file.data_bytes / sizeof(float)) return NotOurs(path, "it is cut short");
  return ReadFloats(file.stream, path, count);
}

}  // namespace ostraka::store
