// The settings of a run as options of `run init` and `swarm`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/base/status.h"
#include "node/protocol/ground/manifest.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// Defaults are those of protocol::Manifest, but for rate and momentum. training.data holds the
// source from the command line (node/train/data_source.h); in a manifest it is an id.
struct ManifestOptions {
  protocol::Manifest manifest;
  std::optional<double> learning_rate;  // none: as config::DefaultSgd says
  std::optional<double> momentum;       // as the rate
  std::string mode = "majority";
  std::uint64_t part_timeout_ms = 20'000;
  std::uint64_t delta_ms = 1000;
  std::uint64_t patience_ms = 1000;
};

void AddManifestOptions(CLI::App& command, ManifestOptions& options);

// A manifest without members and run id. Reads the data, whose hash goes into the manifest.
// InvalidArgument: unknown names; LoadDataset's errors.
base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options);

}  // namespace ostraka::cli
