#include "node/train/data_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "node/train/cifar10.h"
#include "node/train/digits.h"
#include "node/train/examples_file.h"
#include "node/train/gzip.h"
#include "node/train/idx.h"
#include "node/train/stream/stream_index.h"
#include "node/train/text.h"
#include "node/train/tokens/tokens.h"

namespace ostraka::train {
namespace {

struct KnownData {
  std::string_view name;
  std::string_view place;  // what a source gives after the name: a DIR, a FILE or nothing
  std::string_view scaling;
};
constexpr std::array<KnownData, 8> kKnownData = {{
    {"toy", "", ""},
    {"digits", "", "2 * p / 16 - 1"},
    {"mnist", "DIR", "2 * p / 255 - 1"},
    {"cifar10", "DIR", "2 * p / 255 - 1"},
    {"text", "FILE",
     "sqrt(k) * one_hot(s, k) of the last 8 bytes; s is a byte's place among the k that occur"},
    {kTokens, "FILE", "bytes as numbers; target t is token t + 1"},
    {kExamples, "FILE", "columns by their names; of a column p8 2 * p / 255 - 1"},
    {kStream, "PLACE", "columns by their names; of a column p8 2 * p / 255 - 1"},
}};

constexpr std::uint32_t kMnistClasses = 10;
constexpr std::uint8_t kMaxByte = 255;
constexpr std::size_t kValidationShare = 10;
// The largest file of either format is MNIST's training images, 47 MB.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
// The limit is lower because the windows take 9 bytes of memory per byte of text.
constexpr std::size_t kMaxTextBytes = std::size_t{32} << 20;

const KnownData* Find(std::string_view name) {
  const auto found = std::find_if(kKnownData.begin(), kKnownData.end(),
                                  [name](const KnownData& known) { return known.name == name; });
  return found == kKnownData.end() ? nullptr : &*found;
}

std::string PlaceOf(std::string_view name) {
  const KnownData* known = Find(name);
  return known == nullptr ? "" : std::string(known->place);
}

// The file's bytes, decompressed if it is gzip.
struct DataFile {
  std::string path;
  base::Bytes bytes;

  // Prefixes the message of `status` with the file's name.
  base::Status Named(const base::Status& status) const {
    if (status.ok()) return status;
    return base::MakeStatus(status.code(), path + ": " + base::MessageOf(status));
  }
};

// NotFound unless `path` is a file that can be read as one. Devices and pipes are none: they have
// no size.
base::Status CheckIsFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_regular_file(status)) return base::OkStatus();
  if (status.type() == fs::file_type::not_found) {
    return base::NotFound(path + " does not exist: give the path of a file");
  }
  if (fs::is_directory(status)) {
    return base::NotFound(path + " is a folder: give the path of a file in it");
  }
  return base::NotFound(path + " is no regular file" + (error ? " (" + error.message() + ")" : "") +
                        ": give the path of a file");
}

// A path that cannot be examined counts as missing.
bool IsFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

base::StatusOr<base::Bytes> ReadWhole(const std::string& path, std::size_t most) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return base::Unavailable("cannot be read: " + error.message());
  if (size > most) {
    return base::InvalidArgument("larger than " + std::to_string(most >> 20) + " MiB");
  }
  std::ifstream file(path, std::ios::binary);
  base::Bytes bytes(static_cast<std::size_t>(size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.eof()) {
    return base::Unavailable(
        "another program cut the file short while it was read: let it finish, and read the file "
        "again");
  }
  if (!file) return base::Unavailable("cannot be read: check its mode and the disk");
  if (!LooksLikeGzip(bytes)) return bytes;
  return Gunzip(bytes, most);
}

base::StatusOr<DataFile> ReadFile(const std::string& path, std::size_t most) {
  DataFile file{.path = path, .bytes = {}};
  auto bytes = ReadWhole(path, most);
  if (!bytes.ok()) return file.Named(bytes.status());
  file.bytes = *std::move(bytes);
  if (file.bytes.empty()) return base::InvalidArgument(path + " is empty: give a file with data");
  return file;
}

base::StatusOr<DataFile> ReadDataFile(const std::string& dir,
                                      const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    for (const char* suffix : {"", ".gz"}) {
      const std::string path = dir + "/" + name + suffix;
      if (IsFile(path)) return ReadFile(path, kMaxFileBytes);
    }
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(dir, ignored)) {
    const bool exists = std::filesystem::exists(dir, ignored);
    return base::NotFound(dir + (exists ? " is no folder" : " does not exist") +
                          ": give the folder that holds the data's files");
  }
  return base::NotFound(dir + "/" + names.front() +
                        " is not there, nor with .gz: give the folder that holds the data's files");
}

// --- mnist --------------------------------------------------------------------------------------

struct MnistPart {
  ImageShape shape;
  Examples examples;
  std::string images_path;
};

base::StatusOr<MnistPart> LoadMnistPart(const std::string& dir, const std::string& prefix) {
  ASSIGN_OR_RETURN(const DataFile images_file, ReadDataFile(dir, {prefix + "-images-idx3-ubyte",
                                                                  prefix + "-images.idx3-ubyte"}));
  ASSIGN_OR_RETURN(const DataFile labels_file, ReadDataFile(dir, {prefix + "-labels-idx1-ubyte",
                                                                  prefix + "-labels.idx1-ubyte"}));
  const auto images = ParseIdxImages(images_file.bytes);
  if (!images.ok()) return images_file.Named(images.status());
  const auto labels = ParseIdxLabels(labels_file.bytes, kMnistClasses);
  if (!labels.ok()) return labels_file.Named(labels.status());
  if (labels->size() != images->count) {
    return base::InvalidArgument(labels_file.path + ": " + std::to_string(labels->size()) +
                                 " labels for the " + std::to_string(images->count) +
                                 " images of " + images_file.path);
  }
  MnistPart part{
      .shape = {1, images->height, images->width}, .examples = {}, .images_path = images_file.path};
  part.examples.value_count = part.shape.value_count();
  part.examples.values.assign(images->pixels.begin(), images->pixels.end());
  part.examples.labels.assign(labels->begin(), labels->end());
  return part;
}

base::StatusOr<Dataset> LoadMnist(const std::string& dir) {
  ASSIGN_OR_RETURN(MnistPart training, LoadMnistPart(dir, "train"));
  ASSIGN_OR_RETURN(MnistPart test, LoadMnistPart(dir, "t10k"));
  if (test.shape != training.shape) {
    return base::InvalidArgument(
        test.images_path + ": its images are " + std::to_string(test.shape.height) + " x " +
        std::to_string(test.shape.width) + ", those of " + training.images_path + " are not");
  }
  return Dataset{.name = "mnist",
                 .shape = training.shape,
                 .class_count = kMnistClasses,
                 .max_value = kMaxByte,
                 .training = std::move(training.examples),
                 .validation = {},
                 .test = std::move(test.examples)};
}

// --- cifar10 ------------------------------------------------------------------------------------

base::Status AddCifar10File(const std::string& dir, const std::string& name, Examples& examples) {
  ASSIGN_OR_RETURN(const DataFile file, ReadDataFile(dir, {name}));
  return file.Named(AddCifar10Batch(file.bytes, examples));
}

base::StatusOr<Dataset> LoadCifar10(const std::string& dir) {
  Dataset cifar{.name = "cifar10",
                .shape = kCifar10Shape,
                .class_count = kCifar10Classes,
                .max_value = kMaxByte,
                .training = {},
                .validation = {},
                .test = {}};
  cifar.training.value_count = cifar.test.value_count = kCifar10Shape.value_count();
  for (const char* batch : {"1", "2", "3", "4", "5"}) {
    const std::string name = std::string("data_batch_") + batch + ".bin";
    RETURN_IF_ERROR(AddCifar10File(dir, name, cifar.training));
  }
  RETURN_IF_ERROR(AddCifar10File(dir, "test_batch.bin", cifar.test));
  return cifar;
}

// --- text ---------------------------------------------------------------------------------------

base::StatusOr<Dataset> LoadText(const std::string& path) {
  RETURN_IF_ERROR(CheckIsFile(path));
  ASSIGN_OR_RETURN(const DataFile file, ReadFile(path, kMaxTextBytes));
  auto data = TextDataset(file.bytes);
  return data.ok() ? std::move(data) : file.Named(data.status());
}

// A packed file, or a text that is cut into records here.
base::StatusOr<Dataset> LoadTokens(const std::string& path, std::uint32_t context) {
  RETURN_IF_ERROR(CheckIsFile(path));
  ASSIGN_OR_RETURN(const DataFile file, ReadFile(path, kMaxFileBytes));
  auto data = LooksPacked(file.bytes) ? ParseRecords(file.bytes) : RecordsOf(file.bytes, context);
  return data.ok() ? std::move(data) : file.Named(data.status());
}

base::StatusOr<Dataset> LoadExamples(const std::string& path) {
  RETURN_IF_ERROR(CheckIsFile(path));
  ASSIGN_OR_RETURN(const DataFile file, ReadFile(path, kMaxFileBytes));
  auto data = ParseExamples(file.bytes);
  return data.ok() ? std::move(data) : file.Named(data.status());
}

base::StatusOr<Dataset> LoadStream(const DataSource& source, const base::Digest& hash) {
  return OpenStream(source.dir, source.access ? *source.access : StreamAccess{}, hash);
}

}  // namespace

std::uint32_t VocabularyOf(const DataSource& source) {
  constexpr std::streamsize kLine = 128;
  base::Bytes beginning(kLine);
  std::ifstream file(source.dir, std::ios::binary);
  file.read(reinterpret_cast<char*>(beginning.data()), kLine);
  return VocabularyIn(base::ByteView(beginning).first(static_cast<std::size_t>(file.gcount())));
}

base::Status CheckDataName(std::string_view name) {
  if (Find(name) != nullptr) return base::OkStatus();
  std::string message = "unknown data '" + std::string(name) + "'; known:";
  for (const KnownData& known : kKnownData) message += " " + std::string(known.name);
  return base::InvalidArgument(message);
}

std::string InputScaling(std::string_view name) {
  const KnownData* known = Find(name);
  return known == nullptr ? "" : std::string(known->scaling);
}

base::StatusOr<DataId> ParseDataId(std::string_view text) {
  const std::size_t at = text.find('@');
  DataId id{.name = std::string(text.substr(0, at)), .hash = {}};
  RETURN_IF_ERROR(CheckDataName(id.name));
  if (id.name == "toy" && at == std::string_view::npos) return id;
  const auto hash = at == std::string_view::npos ? std::nullopt
                                                 : base::Digest::FromHexDigits(text.substr(at + 1));
  if (id.name == "toy" || !hash || hash->is_zero()) {
    return base::InvalidArgument("data '" + std::string(text) + "' must be " +
                                 (id.name == "toy" ? "toy" : id.name + "@<hash of its content>") +
                                 ": let `ostraka run init` write the manifest");
  }
  id.hash = *hash;
  return id;
}

std::string TextOf(const DataId& id) {
  return id.hash.is_zero() ? id.name : id.name + "@" + id.hash.Hex();
}

std::vector<std::string> DataSourceBeginnings() {
  std::vector<std::string> texts;
  for (const KnownData& known : kKnownData) {
    texts.push_back(std::string(known.name) + (known.place.empty() ? "" : ":"));
  }
  return texts;
}

base::StatusOr<DataSource> ParseDataSource(std::string_view text) {
  const std::size_t colon = text.find(':');
  DataSource source{.name = std::string(text.substr(0, colon)), .dir = {}};
  RETURN_IF_ERROR(CheckDataName(source.name));
  if (colon != std::string_view::npos) source.dir = std::string(text.substr(colon + 1));
  const std::string place = PlaceOf(source.name);
  if (!place.empty() && source.dir.empty()) {
    return base::InvalidArgument("data " + source.name + " is not in the program: say " +
                                 source.name + ":" + place + ", where it is");
  }
  if (place.empty() && colon != std::string_view::npos) {
    return base::InvalidArgument("data " + source.name + " is in the program: say " + source.name +
                                 " without a folder");
  }
  return source;
}

base::StatusOr<Dataset> LoadDataset(const DataSource& source) {
  RETURN_IF_ERROR(CheckDataName(source.name));
  if (source.name == "digits") return LoadDigits();
  if (source.dir.empty()) {
    return base::FailedPrecondition("the run trains on " + source.name +
                                    ": say where your copy is with --data " + source.name + ":" +
                                    PlaceOf(source.name));
  }
  if (source.name == "text") return LoadText(source.dir);
  if (source.name == kTokens) return LoadTokens(source.dir, source.context);
  if (source.name == kExamples) return LoadExamples(source.dir);
  if (source.name == kStream) return LoadStream(source, {});
  auto data = source.name == "mnist" ? LoadMnist(source.dir) : LoadCifar10(source.dir);
  if (!data.ok()) return data.status();
  data->validation = SplitOff(data->training, data->class_count, kValidationShare);
  return data;
}

base::StatusOr<Dataset> LoadTextBy(const Tokenizer& tokenizer, const std::string& path,
                                   std::uint32_t context) {
  RETURN_IF_ERROR(CheckIsFile(path));
  ASSIGN_OR_RETURN(DataFile file, ReadFile(path, kMaxFileBytes));
  if (LooksPacked(file.bytes)) {
    return base::InvalidArgument(path + ": is packed already: give the text");
  }
  const auto tokens =
      tokenizer.Encode({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
  file.bytes = base::Bytes();  // the memory is for the records
  if (!tokens.ok()) return file.Named(tokens.status());
  auto data = RecordsOfTokens(*tokens, tokenizer.vocabulary(), context);
  return data.ok() ? std::move(data) : file.Named(data.status());
}

base::StatusOr<Dataset> LoadDatasetOf(const DataSource& source, const base::Digest& hash) {
  // What is cached is found by its hash, and no place is asked for it.
  if (source.name == kStream && !source.dir.empty()) return LoadStream(source, hash);
  ASSIGN_OR_RETURN(Dataset data, LoadDataset(source));
  if (hash.is_zero()) return data;
  const base::Digest mine = HashOf(data);
  if (mine == hash) return data;
  const std::string advice =
      source.dir.empty()
          ? "this program is of another version than that which made the manifest: "
            "use the same one as the other members"
          : "the data at " + source.dir + " are not those of the other members: get theirs";
  return base::FailedPrecondition("the run trains on " + source.name + " of hash " + hash.Short() +
                                  ", this copy has " + mine.Short() + ": " + advice);
}

}  // namespace ostraka::train
