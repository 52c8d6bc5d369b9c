#include "node/cli/node/hf_folder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "node/base/bytes.h"
#include "node/base/safetensors.h"
#include "node/os/durable_file.h"
#include "node/store/weights_file.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kSettings = {".json", ".txt", ".jinja", ".model"};
constexpr std::string_view kIndex = ".index.json";  // says in which file a tensor lies
constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;  // of one file of settings

base::StatusOr<std::vector<fs::path>> FilesOf(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;  // what cannot be examined is no file of settings
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  }
  if (error) return base::NotFound(folder + " cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool IsSettings(const fs::path& file) {
  const std::string name = file.filename().string();
  return !name.ends_with(kIndex) &&
         std::any_of(kSettings.begin(), kSettings.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

base::StatusOr<std::vector<store::NamedTensor>> TensorsOf(const std::vector<fs::path>& files) {
  std::vector<store::NamedTensor> tensors;
  std::set<std::string> names;
  for (const fs::path& file : files) {
    if (file.extension() != ".safetensors") continue;
    ASSIGN_OR_RETURN(std::vector<store::NamedTensor> more, store::ReadTensors(file.string()));
    for (store::NamedTensor& tensor : more) {
      if (!names.insert(tensor.spec.name).second) {
        return base::InvalidArgument(file.string() + ": tensor " + tensor.spec.name +
                                     " is in another file of the folder, too");
      }
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

std::string Some(const base::TensorLayout& layout) {
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(layout.size(), 2); ++i) {
    names += (i > 0 ? ", " : "") + layout[i].name;
  }
  return layout.size() > 2 ? names + ", ..." : names;
}

base::Status CopySettings(const std::vector<fs::path>& files, const fs::path& into,
                          std::vector<std::string>& copied) {
  for (const fs::path& file : files) {
    if (!IsSettings(file)) continue;
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error && size > kMostBytes) {
      return base::InvalidArgument(file.string() + " is no file of settings: it is too large");
    }
    if (!error) fs::copy_file(file, into / file.filename(), error);
    if (error) return base::Unavailable("cannot copy " + file.string() + ": " + error.message());
    copied.push_back(file.filename().string());
  }
  return base::OkStatus();
}

base::Status WriteTensors(const store::Checkpoint& checkpoint, const std::string& prefix,
                          const std::vector<store::NamedTensor>& known, const fs::path& path,
                          HfFolder& folder) {
  std::set<std::string> trained;
  for (const base::TensorSpec& tensor : checkpoint.layout) {
    folder.layout.push_back(tensor);
    folder.layout.back().name = tensor.name.substr(prefix.size());
    trained.insert(folder.layout.back().name);
  }
  std::vector<base::ByteView> pieces = {
      {}, base::AsBytes(std::span<const float>(*checkpoint.state.parameters))};
  for (const store::NamedTensor& tensor : known) {
    if (trained.contains(tensor.spec.name)) continue;
    folder.layout.push_back(tensor.spec);
    pieces.push_back(base::AsBytes(std::span<const float>(tensor.values)));
    ++folder.frozen;
  }
  const std::string header = base::SafetensorsHeader(folder.layout, checkpoint.metadata);
  pieces.front() = base::AsBytes(header);
  return os::WriteDurably(path.string(), pieces, os::IfExists::kRefuse);
}

}  // namespace

base::StatusOr<std::string> PrefixOver(const base::TensorLayout& state,
                                       const base::TensorLayout& known) {
  std::map<std::string_view, const base::TensorSpec*> shapes;
  for (const base::TensorSpec& tensor : known) shapes.emplace(tensor.name, &tensor);
  const std::string& first = state.front().name;
  for (std::size_t size = 0;; size = first.find('.', size) + 1) {
    const std::string_view prefix = std::string_view(first).substr(0, size);
    const bool fits = std::all_of(state.begin(), state.end(), [&](const base::TensorSpec& tensor) {
      if (!std::string_view(tensor.name).starts_with(prefix)) return false;
      const auto found = shapes.find(std::string_view(tensor.name).substr(size));
      return found != shapes.end() && found->second->shape == tensor.shape;
    });
    if (fits) return std::string(prefix);
    if (first.find('.', size) == std::string::npos) break;
  }
  return base::InvalidArgument("the run trains the tensors " + Some(state) +
                               ", and the folder's model has " + Some(known) +
                               ": give the folder of the model that was exported");
}

base::StatusOr<HfFolder> WriteHfFolder(const store::Checkpoint& checkpoint,
                                       const std::string& original, const std::string& out) {
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, FilesOf(original));
  const bool has_config = std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    return file.filename() == "config.json";
  });
  if (!has_config) {
    return base::InvalidArgument(original +
                                 " holds no config.json: give the folder that save_pretrained of "
                                 "the exported model writes, or a copy of its repository");
  }
  ASSIGN_OR_RETURN(const std::vector<store::NamedTensor> known, TensorsOf(files));
  std::string prefix;
  if (!known.empty()) {
    base::TensorLayout layout;
    for (const store::NamedTensor& tensor : known) layout.push_back(tensor.spec);
    ASSIGN_OR_RETURN(prefix, PrefixOver(checkpoint.layout, layout));
  }
  std::error_code error;
  if (!fs::create_directory(out, error)) {
    if (error) return base::Unavailable("cannot make " + out + ": " + error.message());
    return base::FailedPrecondition(out + " exists: give another folder");
  }
  HfFolder folder;
  base::Status status = CopySettings(files, out, folder.copied);
  if (status.ok()) {
    status = WriteTensors(checkpoint, prefix, known, fs::path(out) / "model.safetensors", folder);
  }
  if (status.ok()) return folder;
  fs::remove_all(out, error);  // the first error is the one to tell
  return status;
}

}  // namespace ostraka::cli
