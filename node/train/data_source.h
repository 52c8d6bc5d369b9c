// Which data a run trains on, and where this machine has it.
//
// Every peer recomputes others' gradients, so all must have the same data: a manifest names its
// data by an id with the hash of the content, and each peer says where its own copy is.
//   id       "digits@<64 hex digits>", "mnist@...", "cifar10@...", "text@..." or "toy"   in the
//   manifest source   "digits", "mnist:DIR", "cifar10:DIR", "text:FILE" or "toy"   on a command
//   line
//
// Thread safety: pure functions, but for LoadDataset, which reads files.
#pragma once

#include <string>
#include <string_view>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/train/dataset.h"

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
  std::string dir;  // or the text's file; empty for data that is in the program

  bool operator==(const DataSource&) const = default;
};

// InvalidArgument: an unknown name, a place that is missing or not wanted.
base::StatusOr<DataSource> ParseDataSource(std::string_view text);

// OkStatus if `name` is data that this build knows, the toy included.
base::Status CheckDataName(std::string_view name);

// How a model's inputs come from pixels p or a text, for people who use an exported model
// elsewhere; "2 * p / 255 - 1". Empty for the toy.
std::string InputScaling(std::string_view name);

// mnist: DIR/train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
//   t10k-labels-idx1-ubyte; with '.' for the last '-' (train-images.idx3-ubyte) and with .gz too.
//   A tenth of each class of the train files is the validation part.
// cifar10: DIR/data_batch_1.bin to data_batch_5.bin and test_batch.bin; .gz too. Likewise.
// text: any file of at most 32 MiB; compressed by gzip too. Its parts: node/train/text.h.
// NotFound: a file is not there. InvalidArgument: a file is not what it should be. Unavailable: it
// cannot be read. Each message names the file. REQUIRES: a name that is not the toy's.
base::StatusOr<Dataset> LoadDataset(const DataSource& source);

// LoadDataset, and FailedPrecondition, in one line for the peer that has other data than the run,
// unless the content is that of `hash`. A zero hash takes any content.
base::StatusOr<Dataset> LoadDatasetOf(const DataSource& source, const base::Digest& hash);

}  // namespace ostraka::train
