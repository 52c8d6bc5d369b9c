// Names the data of a run, and where this machine has them.
//
// Every peer recomputes others' gradients, so all must have equal data. A manifest names its data
// by an id that includes the hash of the content; each peer says where its own copy is.
//   id      in a manifest: "digits@<64 hex digits>", "mnist@...", "cifar10@...", "text@...",
//           "tokens@...", "examples@...", "stream@...", "toy"
//   source  on a command line: "digits", "mnist:DIR", "cifar10:DIR", "text:FILE", "tokens:FILE",
//           "examples:FILE", "stream:PLACE", "toy"
//
// Thread safety: pure functions, except LoadDataset and LoadDatasetOf, which read files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"
#include "node/train/stream/open_stream.h"
#include "node/train/tokens/tokenizer.h"

namespace ostraka::train {

struct DataId {
  std::string name;
  base::Digest hash;  // HashOf the data set; zero for the toy, which has none

  bool operator==(const DataId&) const = default;
};

// InvalidArgument: an unknown name, or a hash that is missing or malformed.
base::StatusOr<DataId> ParseDataId(std::string_view text);
std::string TextOf(const DataId& id);

struct DataSource {
  std::string name;
  std::string dir;            // or the text's file; empty for data that the program contains
  std::uint32_t context = 0;  // tokens: positions of a record, for a text that is not packed
  std::shared_ptr<const StreamAccess> access = nullptr;  // stream; null: folders alone

  bool operator==(const DataSource&) const = default;
};

// InvalidArgument: an unknown name, or a place that is missing or not allowed.
base::StatusOr<DataSource> ParseDataSource(std::string_view text);

// What begins a source, for each kind of data: "digits", or "mnist:" before a place.
std::vector<std::string> DataSourceBeginnings();

// OK if this build knows data of this name, toy included.
base::Status CheckDataName(std::string_view name);

// The formula from pixels p, or from a text, to a model's inputs ("2 * p / 255 - 1"), for people
// who use an exported model elsewhere. Empty for the toy.
std::string InputScaling(std::string_view name);

// Loads the data of `source`. Of tokens: a packed file, or any text, cut into records of `context`.
// Others: REQUIRES: a name other than the toy's.
//   mnist    DIR/train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
//            t10k-labels-idx1-ubyte; also with '.' for the last '-' (train-images.idx3-ubyte), and
//            with .gz. A tenth of each class of the train files is the validation part.
//   cifar10  DIR/data_batch_1.bin to data_batch_5.bin and test_batch.bin; also with .gz. A tenth of
//            each class of the data_batch files is the validation part.
//   stream   folders, or addresses by the source's access (node/train/stream/stream_index.h)
//   examples a file of at most 1 GiB, or its gzip (node/train/examples_file.h)
//   text     any file of at most 32 MiB, or its gzip. Its parts: node/train/text.h.
// NotFound: a file does not exist. InvalidArgument: a file has wrong content. Unavailable: it
// cannot be read. Each message names the file.
base::StatusOr<Dataset> LoadDataset(const DataSource& source);

// The text of a file, also gzip, as records of `context` of the tokens that `tokenizer` makes of
// it. Errors of LoadDataset, RecordsOfTokens and Tokenizer::Encode; InvalidArgument: a packed file.
base::StatusOr<Dataset> LoadTextBy(const Tokenizer& tokenizer, const std::string& path,
                                   std::uint32_t context);

// How many tokens a model of `source` must tell apart, by the file's first line alone: of a packed
// file its vocabulary, else that of bytes. Nothing is checked.
std::uint32_t VocabularyOf(const DataSource& source);

// LoadDataset, but FailedPrecondition in one line if the content differs from that of `hash`, so
// that this peer would train on other data than the run. A zero hash accepts any content.
base::StatusOr<Dataset> LoadDatasetOf(const DataSource& source, const base::Digest& hash);

}  // namespace ostraka::train
