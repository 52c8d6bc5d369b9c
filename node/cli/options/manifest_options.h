// The settings of a run that `run init` and `swarm` share as options, and the trainer they ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/trainer.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// Defaults are those of protocol::Manifest, which are tuned for mlp on digits. training.data is
// what the command line says, a source (node/train/data_source.h); in a manifest it is an id.
struct ManifestOptions {
  protocol::Manifest manifest;
  std::string mode = "majority";
  std::uint64_t part_timeout_ms = 20'000;
  std::uint64_t delta_ms = 1000;
  std::uint64_t patience_ms = 1000;
};

void AddManifestOptions(CLI::App& command, ManifestOptions& options);

// Without members and run id. Reads the data, whose hash becomes part of the manifest.
// InvalidArgument for unknown names; LoadDataset's errors.
base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options);

// The trainer that a manifest asks for, with this machine's own choices. `data` is --data, or
// empty. InvalidArgument: unknown names, data without its hash, or `data` that is not the
// manifest's.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const std::string& data,
                                                       train::HeldOut evaluate_on);

// InvalidArgument unless this build knows the manifest's model and data.
base::Status CheckTraining(const protocol::Manifest& manifest);

// FailedPrecondition unless a model of `dimension` parameters can be cut for so many members.
base::Status CheckDimension(std::uint64_t dimension, std::size_t members);

}  // namespace ostraka::cli
