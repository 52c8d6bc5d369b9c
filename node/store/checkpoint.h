// Checkpoints: the whole state of a run after a step, as
// <data_dir>/checkpoints/step-<step>.safetensors.
//
// A file holds the parameters under their own names, each of the optimizer's slots under
// "optimizer.<slot>.<name>", and metadata, which includes the state root over all. So a reader
// can detect a damaged file, and a file whose root a block sealed is the run's own state.
//
// Thread safety: plain values and free functions that work on files.
#pragma once

#include <cstdint>
#include <optional>
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

// Removes what writes that a crash interrupted left in CheckpointFolder and ParametersFolder.
// REQUIRES: nobody writes there. Unavailable: a file cannot be removed.
base::Status RemoveUnfinished(const std::string& data_dir);

// Writes durably; creates CheckpointFolder if needed and replaces a file of an equal step.
// WriteDurably's errors. Unavailable: there is no data folder. It is not made: in the place of one
// that has vanished an empty one would look like the node's.
base::Status WriteCheckpoint(const std::string& data_dir, const Checkpoint& checkpoint);

// NotFound: no such file. Unavailable: cannot be read. InvalidArgument: differs in any byte from
// what WriteCheckpoint writes, or its state root does not match its tensors. Messages name the
// path.
base::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

// The file of the state after `step`, or of the newest. NotFound, naming the states that there are.
base::StatusOr<CheckpointFile> ChooseCheckpoint(const std::string& data_dir,
                                                std::optional<std::uint64_t> step);
// Reads it, though a running node may replace the file between the two. Errors of both.
base::StatusOr<Checkpoint> ReadChosenCheckpoint(const std::string& data_dir,
                                                std::optional<std::uint64_t> step);

// Writes the parameters alone, for programs that use the model. WriteDurably's errors; refuses an
// existing path.
base::Status WriteModel(const std::string& path, const Checkpoint& checkpoint);

// --- parameters beside a piece of evidence -------------------------------------------------------
// A file of kind gradient convinces whoever has the parameters at which the gradient was due.

// <data_dir>/evidence/parameters-<step>.safetensors
std::string ParametersFolder(const std::string& data_dir);
std::string ParametersPath(const std::string& data_dir, std::uint64_t step);

// Writes the parameters alone, durably; `step` is that of the gradient, so they are those after the
// step before. Creates ParametersFolder if needed and replaces a file of an equal step. Errors as
// above.
base::Status WriteParameters(const std::string& data_dir, const Checkpoint& parameters);

// The parameters of any file of this program with exactly these tensors first: a checkpoint, an
// exported model, or what WriteParameters writes. Takes any bytes, allocates no more than the
// layout needs beside a header of 16 MiB, and checks no root. NotFound, Unavailable and
// InvalidArgument as ReadCheckpoint.
base::StatusOr<protocol::SharedVector> ReadParameters(const std::string& path,
                                                      const base::TensorLayout& layout);

}  // namespace ostraka::store
