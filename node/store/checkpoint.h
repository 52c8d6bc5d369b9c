// Checkpoints: the whole state of a run after a step, as safetensors files in a node's data folder,
// <data_dir>/checkpoints/step-<step>.safetensors.
//
// A file holds the parameters under their own names, the optimiser's velocity under
// "optimizer.velocity.<name>", and metadata, among them the state root over all of it. So anyone
// can tell a damaged file, and one whose root a block sealed is the run's own state.
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
  std::uint64_t step = 0;  // the last that is in it, as blocks count
  base::TensorLayout layout;
  protocol::ModelState state;
  // For people and other programs: run_id, model, data, inputs. "step", "state_root", "format" and
  // "producer" are added on writing.
  base::SafetensorsMetadata metadata;
};

struct CheckpointFile {
  std::uint64_t step = 0;
  std::string path;
};

std::string CheckpointFolder(const std::string& data_dir);
std::string CheckpointPath(const std::string& data_dir, std::uint64_t step);

// By step. Empty if there is no such folder.
std::vector<CheckpointFile> ListCheckpoints(const std::string& data_dir);

// Writes it durably, the folder too if it is missing; one of the same step is replaced.
// WriteDurably's errors.
base::Status WriteCheckpoint(const std::string& data_dir, const Checkpoint& checkpoint);

// NotFound: not there. Unavailable: cannot be read. InvalidArgument: not what WriteCheckpoint
// writes, down to the last byte, or its state root is not that of its tensors. Messages name it.
base::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

// The parameters alone, for programs that use the model. WriteDurably's errors, and refuses a path
// that exists.
base::Status WriteModel(const std::string& path, const Checkpoint& checkpoint);

}  // namespace ostraka::store
