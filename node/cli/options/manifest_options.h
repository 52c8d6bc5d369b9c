// The settings of a run as options of `run init` and `swarm`, and the trainer that they ask for.
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

// Defaults are those of protocol::Manifest, tuned for mlp on digits. training.data holds the source
// from the command line (node/train/data_source.h); in a manifest it is an id.
struct ManifestOptions {
  protocol::Manifest manifest;
  std::string mode = "majority";
  std::uint64_t part_timeout_ms = 20'000;
  std::uint64_t delta_ms = 1000;
  std::uint64_t patience_ms = 1000;
};

void AddManifestOptions(CLI::App& command, ManifestOptions& options);

// A manifest without members and run id. Reads the data, whose hash goes into the manifest.
// InvalidArgument: unknown names; LoadDataset's errors.
base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options);

// The trainer options of `manifest` plus the settings of this machine. `data` is --data, or empty.
// InvalidArgument: unknown names, data without a hash, or `data` other than the manifest's.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const protocol::Manifest& manifest,
                                                       const std::string& data,
                                                       train::HeldOut evaluate_on);

// InvalidArgument unless this build knows the manifest's model and data.
base::Status CheckTraining(const protocol::Manifest& manifest);

// FailedPrecondition unless a model of `dimension` parameters can be cut into parts for `members`.
base::Status CheckDimension(std::uint64_t dimension, std::size_t members);

}  // namespace ostraka::cli
