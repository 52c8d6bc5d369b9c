// The settings of a run as options of `run init` and `swarm`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exact/models/models.h"
#include "node/base/status.h"
#include "node/config/default_sgd.h"
#include "node/protocol/ground/manifest.h"
#include "node/train/exact/graph_file.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

// Defaults are those of protocol::Manifest, but for rate, momentum and profile. training.data holds
// the source from the command line (node/train/data_source.h), and training.model a name, gpt,
// albert or graph:FILE; in a manifest both are ids.
struct ManifestOptions {
  protocol::Manifest manifest;
  config::UpdateWishes update;  // the rest: as config::SetUpdate says
  std::string optimizer;        // empty: by model and data
  std::string schedule;         // empty: linear
  std::string part_codec = "raw";
  std::string result_codec = "raw";
  std::optional<std::uint64_t> batch_size;  // none: 32, or of a graph file its batch
  std::string profile;                      // empty: as config::DefaultProfile says
  exact::ModelOptions sizes = {.layers = 2, .width = 64, .heads = 4, .context = 64};  // gpt, albert
  std::string mode = "majority";
  std::optional<std::uint32_t> alarm_validators;  // none: DefaultAlarm
  std::optional<std::uint64_t> most_batches;      // none: as many as at least
  // Without work_ms the first three are 20 s, not adaptive and 1 s; with it they follow from it.
  std::optional<std::uint64_t> part_timeout_ms;
  std::optional<std::uint64_t> part_floor_ms;
  std::optional<std::uint64_t> patience_ms;
  std::optional<std::uint64_t> work_ms;
  std::uint64_t delta_ms = 1000;
  bool allow_private_sources = false;  // config::StreamSettings::allow_private
};

void AddManifestOptions(CLI::App& command, ManifestOptions& options);

// The graph that the options ask for: read from files, or made; empty for other models.
// InvalidArgument: not a graph, or sizes out of range. Errors of ReadGraphFile and ReadConstants.
base::StatusOr<train::GraphFiles> GraphFilesOf(const ManifestOptions& options);

// InvalidArgument: a graph that sees the targets of a text (train::CheckNoLeak); nothing is checked
// of other data. `parameters`: as they are drawn.
base::Status CheckNoLeak(const train::GraphFiles& graph, const protocol::Manifest& manifest,
                         std::vector<float> parameters);

// Where the graph of a manifest's run is, unless the user says otherwise.
std::string GraphBeside(const std::string& manifest_file);

// `given`, or for a run that trains a graph GraphBeside; else empty.
std::string GraphFileOf(const std::string& given, const std::string& manifest_file,
                        const protocol::Manifest& manifest);

// The modes that --mode takes, and the kernels that --kernels takes.
std::vector<std::string> ModeNames();
std::vector<std::string> KernelNames();

// The alarm that the options ask for, or the default of as many members as `manifest` has.
void SetAlarm(const ManifestOptions& options, protocol::Manifest& manifest);

// A manifest without members, their alarm and run id. Reads the data, whose hash goes into the
// manifest. InvalidArgument: unknown names; LoadDataset's errors.
base::StatusOr<protocol::Manifest> MakeManifest(const ManifestOptions& options);

}  // namespace ostraka::cli
