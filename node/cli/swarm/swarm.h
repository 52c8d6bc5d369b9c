// `ostraka swarm`: N real node processes on loopback, B of them Byzantine, watched to their end.
//
// Every node is this binary, started as `ostraka node` with a key, a manifest and an already bound
// listening socket, so that no other process can take the port. The parent only reads the nodes'
// output; it takes no part in the protocol.
//
// Thread safety: one swarm per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/cli/options/http_options.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/state_options.h"
#include "node/cli/swarm/wan_lines.h"
#include "node/host/report/curve.h"

namespace ostraka::cli {

struct SwarmOptions {
  std::uint32_t peers = 8;
  std::uint32_t byzantine = 3;
  std::string attack = "sign_flip";
  std::vector<std::string> attack_params;
  std::uint64_t attack_from = 0;  // honest before this step
  // The second act (second_act.h).
  std::uint32_t joins = 0;
  std::uint32_t intruders = 0;
  std::uint32_t leaves = 0;
  ManifestOptions manifest;
  std::optional<WanLine> wan;  // of each node; none: as fast as this machine
  bool fits_waits = false;  // nobody named a wait: it follows what the model takes (swarm_waits.h)
  std::uint64_t seed = 0;
  std::vector<std::string>
      kernels;  // dealt to the nodes by turns (node --kernels); empty: the widest
  bool unprotected = false;
  double target = 0;  // value that the metric must reach (a loss: at most this); 0: none
  // What computes their gradients, dealt by turns (node --device); empty: the processor.
  std::vector<std::string> devices;
  std::string data_cache = "2G";  // of each node (node --data-cache)
  std::string weights;  // a safetensors file that the run begins with; empty: drawn parameters
  std::string out_dir;  // empty: a temporary folder, removed after success
  std::uint64_t evaluate_every = 10;
  StateOptions states;
  HttpOptions http;  // of node 0, which is honest

  // On loopback 5 s of silence means a fault, and a message takes less than 63 ms.
  SwarmOptions() {
    manifest.manifest.part_timeout = base::Seconds(5);
    manifest.delta_ms = 250;
  }
};

// The parent's view of a node.
struct SwarmNode {
  base::PeerId id;
  bool byzantine = false;
  bool comes = false;   // it is not of the genesis
  bool leaves = false;  // it was told to
  std::string data_dir;
  std::string log_file;
  nlohmann::json report;   // the node's final report; null until its end
  int exit_status = -1;    // -1: still running
  bool started = false;    // it reported its start
  bool stopped = false;    // ended by the parent because the run was over without it
  std::string last_words;  // last line of its log, if it ended without a report
};

// The name of node `index` in the manifest, and of its folder and its log.
std::string SwarmNodeName(std::size_t index);

// The return of a dropped member, or the admission of a new one, as the first honest node reports
// it.
struct SwarmReturn {
  std::string peer;  // hex
  std::uint64_t step = 0;
  std::optional<double> seconds = {};  // since a new one was started
};

struct SwarmRun {
  std::vector<SwarmNode> nodes;
  std::string run_dir;
  std::uint64_t dimension = 0;           // parameters of the model
  std::optional<WanLine> wan;            // of each node
  std::uint64_t line_bytes = 0;          // that passed the lines of `wan`
  double seconds = 0;                    // from the first start to the last report
  std::vector<host::CurvePoint> losses;  // the first honest node's evaluations
  std::vector<SwarmReturn> returns;
  std::vector<SwarmReturn> came;  // new ones
  bool interrupted = false;
  // A node that failed to start, for which the others were stopped. If a node is lost later the
  // others go on: the protocol must bear that.
  std::optional<std::size_t> not_started;
};

// Receives events while the swarm runs.
class SwarmWatcher {
 public:
  virtual ~SwarmWatcher() = default;
  // Once, before the first node starts. `note`: what was guessed, a line; or empty.
  virtual void OnPlanned(const protocol::Manifest& manifest, const std::vector<SwarmNode>& nodes,
                         const std::string& note) = 0;
  // A new node was started, or a member told to leave.
  virtual void OnScene(std::size_t index, const SwarmNode& node) = 0;
  // A new member was admitted.
  virtual void OnCame(const SwarmReturn& came) = 0;
  // `event` is a line that node `index` printed (node/cli/views/node_json.h).
  virtual void OnEvent(std::size_t index, const SwarmNode& node, const nlohmann::json& event) = 0;
  // Node `index` ended without a report; the others continue.
  virtual void OnLost(std::size_t index, const SwarmNode& node) = 0;
};

// Why training goes badly as it was meant to: attackers on plain averaging. Empty if nothing but
// the settings can be the cause.
std::string CauseOfTrouble(const SwarmOptions& options);

// Plans, starts and watches the swarm. An error comes from the environment or the usage; a run with
// a bad outcome is a SwarmRun.
base::StatusOr<SwarmRun> RunSwarm(const SwarmOptions& options, SwarmWatcher& watcher);

// The contract of `ostraka swarm --json` (docs/json.md), from the nodes' reports. "ok" is true only
// if every honest node finished, every Byzantine peer was removed (if the registry of attacks
// promises that), no honest one was removed even for a while, the state roots are equal and the
// metric reached the target. "problems" lists the failed conditions.
nlohmann::json JudgeSwarm(const SwarmOptions& options, const SwarmRun& run);

}  // namespace ostraka::cli
