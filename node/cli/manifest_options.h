// The settings of a run that `run init` and `swarm` share as options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/base/status.h"
#include "node/protocol/manifest.h"
#include "node/train/trainer.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// Defaults are those of protocol::Manifest, which are tuned for mlp on digits.
struct ManifestOptions {
  protocol::Manifest manifest;
  std::string mode = "majority";
};

void AddManifestOptions(CLI::App& command, ManifestOptions& options);

// Without members and run id. InvalidArgument for unknown names.
base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options);

// The trainer that a manifest asks for.
train::TrainerOptions TrainerOptionsOf(const protocol::Manifest& manifest);

// InvalidArgument unless this build knows the manifest's model and data.
base::Status CheckTraining(const protocol::Manifest& manifest);

// FailedPrecondition unless a model of `dimension` parameters can be cut for so many members.
base::Status CheckDimension(std::uint64_t dimension, std::size_t members);

}  // namespace ostraka::cli
