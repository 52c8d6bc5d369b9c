// `ostraka swarm`: N real node processes on loopback, B of them Byzantine, watched to their end.
//
// Every node is this same binary, started as `ostraka node` with a key, a manifest and a listening
// socket that is already bound, so that no port can be stolen. The parent only reads what the nodes
// say; it takes no part in the protocol.
//
// Thread safety: one swarm a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/state_options.h"

namespace ostraka::cli {

struct SwarmOptions {
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
  std::string attack = "sign_flip";
  std::vector<std::string> attack_params;
  std::uint64_t attack_from = 0;  // honest before this step
  ManifestOptions manifest;
  std::uint64_t seed = 0;
  bool unprotected = false;
  double target = 0;    // the metric that the run must reach (a loss: at most); 0: none
  std::string out_dir;  // empty: a temporary folder, removed if all went well
  std::uint64_t evaluate_every = 10;
  StateOptions states;

  // On loopback whoever is silent for 5 s is silent, and a word takes no 63 ms.
  SwarmOptions() {
    manifest.part_timeout_ms = 5000;
    manifest.delta_ms = 250;
  }
};

// One node as the parent sees it.
struct SwarmNode {
  base::PeerId id;
  bool byzantine = false;
  std::string data_dir;
  std::string log_file;
  nlohmann::json report;   // of the node's end; null until then
  int exit_status = -1;    // -1: still runs
  bool started = false;    // it said so
  bool stopped = false;    // told to end, as the run was over without it
  std::string last_words;  // of its log, if it ended without a report
};

// A member that was dropped and is back, as the first honest node saw it.
struct SwarmReturn {
  std::string peer;  // hex
  std::uint64_t step = 0;
};

struct SwarmRun {
  std::vector<SwarmNode> nodes;
  std::string run_dir;
  std::uint64_t dimension = 0;  // parameters of the model
  double seconds = 0;           // from the first start to the last end
  std::vector<double> losses;   // of the first honest node's evaluations
  std::vector<SwarmReturn> rejoined;
  bool interrupted = false;
  // A node that could not even start; the others were stopped because of it. One that is lost
  // later is what the protocol is for: the others go on.
  std::optional<std::size_t> not_started;
};

// Told of what happens while the swarm runs.
class SwarmWatcher {
 public:
  virtual ~SwarmWatcher() = default;
  // `event` is a line that node `index` printed (node/cli/views/node_json.h).
  virtual void OnEvent(std::size_t index, const SwarmNode& node, const nlohmann::json& event) = 0;
  // Node `index` ended without a report; the others go on.
  virtual void OnLost(std::size_t index, const SwarmNode& node) = 0;
};

// Plans, starts and watches. An error is the environment's or a usage error; a run that merely
// goes badly is a SwarmRun.
base::StatusOr<SwarmRun> RunSwarm(const SwarmOptions& options, SwarmWatcher& watcher);

// The contract of `ostraka swarm --json` (docs/json.md), from the nodes' reports. "ok" is false
// unless every honest node finished, every Byzantine peer was removed (if the registry of attacks
// promises that), no honest one was, be it for a while, the state roots are equal and the metric
// reached the target; "problems" says which of these failed.
nlohmann::json JudgeSwarm(const SwarmOptions& options, const SwarmRun& run);

}  // namespace ostraka::cli
