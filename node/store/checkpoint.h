// Checkpoints: the whole state of a run after a step, as
// <data_dir>/checkpoints/step-<step>.safetensors.
//
// A file holds the parameters under their own names, the optimiser's velocity under
// "optimizer.velocity.<name>", and metadata, which includes the state root over both. So a reader
// can detect a damaged file, and a file whose root a block sealed is the run's own state.
//
// Thread safety: plain values and free functions that work on files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/safetensors.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/protocol/ground/state.h"

namespace ostraka::store {

struct Checkpoint {
  std::uint64_t step = 0;  // the last step that the state includes, numbered as in blocks
  base::TensorLayout layout;
  protocol::ModelState state;
  // For people and other programs: run_id, model, data, inputs. WriteCheckpoint adds "step",
  // "state_root", "format" and "producer".
  base::SafetensorsMetadata metadata;
};

struct CheckpointFile {
  std::uint64_t step = 0;
  std::string path;
};

std::string CheckpointFolder(const std::string& data_dir);
std::string CheckpointPath(const std::string& data_dir, std::uint64_t step);

// Sorted by step. Empty if there is no such folder.
std::vector<CheckpointFile> ListCheckpoints(const std::string& data_dir);

// Writes durably; creates the folder if needed and replaces a file of an equal step. WriteDurably's
// errors.
base::Status WriteCheckpoint(const std::string& data_dir, const Checkpoint& checkpoint);

// NotFound: no such file. Unavailable: cannot be read. InvalidArgument: differs in any byte from
// what WriteCheckpoint writes, or its state root does not match its tensors. Messages name the
// path.
base::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

// Writes the parameters alone, for programs that use the model. WriteDurably's errors; refuses an
// existing path.
base::Status WriteModel(const std::string& path, const Checkpoint& checkpoint);

}  // namespace ostraka::store
