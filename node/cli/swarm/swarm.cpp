#include "node/cli/swarm/swarm.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "crypto/key_file.h"
#include "node/cli/options/attack_options.h"
#include "node/cli/swarm/second_act.h"
#include "node/cli/swarm/swarm_waits.h"
#include "node/cli/swarm/wan_relay.h"
#include "node/cli/terminal/process.h"
#include "node/cli/terminal/stop_request.h"
#include "node/config/manifest_toml.h"
#include "node/config/origin.h"
#include "node/config/stream_access.h"
#include "node/config/training.h"
#include "node/os/endpoint.h"
#include "node/os/own_program.h"
#include "node/train/exact/constants_file.h"
#include "node/train/trainer_loader.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

namespace fs = std::filesystem;

// JSON has no NaN: a loss that is not finite arrives as null.
double NumberOf(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

base::Digest NonceOf(std::uint64_t seed) {
  return crypto::Hasher(crypto::kDomainSwarmNonce).UpdateU64(seed).Finish();
}

base::StatusOr<std::string> MakeRunDir(const std::string& wanted) {
  std::error_code error;
  if (wanted.empty()) {
    std::string path = (fs::temp_directory_path(error) / "ostraka-swarm-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return base::Unavailable("cannot create a temporary folder: give --out DIR");
    }
    return path;
  }
  if (fs::exists(wanted, error) && !fs::is_empty(wanted, error)) {
    return base::FailedPrecondition("'" + wanted + "' is not empty: give a new folder with --out");
  }
  fs::create_directories(wanted, error);
  if (error) {
    return base::Unavailable("cannot create '" + wanted + "' (" + error.message() +
                             "): give a writable folder with --out");
  }
  return wanted;
}

// The last line of a log, which has the reason if the node could not start; empty if none.
std::string LastLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

class Swarm {
 public:
  Swarm(const SwarmOptions& options, SwarmWatcher& watcher)
      : options_(options), watcher_(watcher) {}
  ~Swarm() {
    for (const auto& socket : sockets_) {
      if (socket.fd >= 0) close(socket.fd);
    }
  }
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  base::StatusOr<SwarmRun> Run() {
    RETURN_IF_ERROR(CheckOptions());
    RETURN_IF_ERROR(Plan());
    const StopRequest request;  // so that the nodes can be told and end cleanly
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < options_.peers; ++i) RETURN_IF_ERROR(Start(i));
    RETURN_IF_ERROR(Watch(request));
    run_.wan = options_.wan;
    if (relay_ != nullptr) run_.line_bytes = relay_->bytes();
    run_.seconds = std::chrono::duration<double>(last_end_ - begin).count();
    return std::move(run_);
  }

 private:
  base::Status CheckOptions() const {
    if (options_.peers < 3 || options_.peers > wire::kMaxPeers) {
      return base::InvalidArgument("--peers must be from 3 to " + std::to_string(wire::kMaxPeers));
    }
    if (options_.byzantine >= options_.peers) {
      return base::InvalidArgument("--byzantine must be below --peers");
    }
    if (!std::isfinite(options_.target)) return base::InvalidArgument("--target must be a number");
    RETURN_IF_ERROR(CheckHttp(options_.http));
    RETURN_IF_ERROR(CheckAttack(options_.attack, options_.attack_params));
    ASSIGN_OR_RETURN(const protocol::Mode mode, protocol::ParseMode(options_.manifest.mode));
    RETURN_IF_ERROR(CheckSecondAct());
    return options_.unprotected
               ? base::OkStatus()
               : protocol::CheckTolerates(mode, options_.peers, options_.byzantine);
  }

  base::Status CheckSecondAct() const {
    const std::uint64_t guests = std::uint64_t{options_.joins} + options_.intruders;
    if (guests + options_.leaves == 0) return base::OkStatus();
    if (options_.unprotected) {
      return base::InvalidArgument(
          "an unprotected swarm has no second act: leave out --join, --intrude and --leave");
    }
    if (options_.peers + guests > wire::kMaxPeers) {
      return base::InvalidArgument("--peers, --join and --intrude are more than " +
                                   std::to_string(wire::kMaxPeers));
    }
    const std::uint32_t honest = options_.peers - options_.byzantine;
    if (options_.leaves + 3 <= honest) return base::OkStatus();
    return base::InvalidArgument("--leave is " + std::to_string(options_.leaves) + " of " +
                                 std::to_string(honest) + " honest nodes: three must stay");
  }

  // Prepares keys, sockets, the manifest and folders before the first process starts. Checks
  // everything that can be refused before it creates the first file.
  base::Status Plan() {
    ASSIGN_OR_RETURN(protocol::Manifest manifest, MakeManifest(options_.manifest));
    ASSIGN_OR_RETURN(const train::HeldOut evaluate_on, HeldOutOf(options_.states));
    ASSIGN_OR_RETURN(train::TrainerOptions trainer_options,
                     config::TrainerOptionsOf(
                         manifest, {.data = DataSourceText(),
                                    .stream = config::StreamAccessOf(
                                        {.allow_private = options_.manifest.allow_private_sources}),
                                    .evaluate_on = evaluate_on}));
    for (const std::string& device : options_.devices) {
      RETURN_IF_ERROR(config::TrainerOptionsOf(manifest, {.device = device}).status());
    }
    ASSIGN_OR_RETURN(const train::GraphFiles graph, GraphFilesOf(options_.manifest));
    trainer_options.graph = graph.text;
    trainer_options.constants = graph.constants;
    for (const std::string& kernels : options_.kernels) {
      trainer_options.kernels = kernels;
      RETURN_IF_ERROR(train::MakeTrainer(trainer_options).status());
    }
    ASSIGN_OR_RETURN(const auto trainer, train::MakeTrainer(trainer_options));
    RETURN_IF_ERROR(CheckNoLeak(graph, manifest, trainer->InitialParameters({})));
    run_.dimension = base::ElementCount(trainer->layout());
    const std::uint32_t nodes = options_.peers + options_.joins + options_.intruders;
    std::string note;
    if (options_.fits_waits) {
      ASSIGN_OR_RETURN(const base::Duration work, MeasureWork(manifest, *trainer, nodes));
      base::Duration exchange{};
      if (options_.wan) exchange = ExchangeTime(manifest, run_.dimension, nodes, *options_.wan);
      note = FitWaits(work + exchange, manifest);
    }
    for (std::uint32_t i = 0; i < nodes; ++i) {
      ASSIGN_OR_RETURN(sockets_.emplace_back(), os::ListenOnLoopback());
      SwarmNode& node = run_.nodes.emplace_back();
      node.id = SwarmKey(options_.seed, i).id();
      node.comes = i >= options_.peers;
      node.byzantine = node.comes ? i >= options_.peers + options_.joins
                                  : i >= options_.peers - options_.byzantine;
      if (node.comes) continue;
      manifest.members.push_back({.id = node.id,
                                  .address = "127.0.0.1:" + std::to_string(sockets_.back().port),
                                  .name = SwarmNodeName(i)});
    }
    std::sort(manifest.members.begin(), manifest.members.end(),
              [](const auto& a, const auto& b) { return a.id < b.id; });
    SetAlarm(options_.manifest, manifest);
    RETURN_IF_ERROR(config::CheckDimension(run_.dimension, nodes, manifest));
    if (options_.wan) {
      std::vector<std::uint16_t> ports;
      for (const auto& socket : sockets_) ports.push_back(socket.port);
      ASSIGN_OR_RETURN(relay_, WanRelay::Start(*options_.wan, ports));
    }
    OpenFor(options_, manifest);
    if (!options_.weights.empty()) {
      ASSIGN_OR_RETURN(const config::WeightsOrigin weights,
                       config::OriginOfWeights(options_.weights, trainer->layout(),
                                               manifest.training.optimizer));
      if (!weights.left_out.empty()) {
        note += (note.empty() ? "" : "; ") + options_.weights + ": the model has no tensors " +
                weights.left_out;
      }
      manifest.origin = weights.origin;
    }
    const std::string text = config::WriteManifest(manifest, NonceOf(options_.seed));
    ASSIGN_OR_RETURN(const protocol::Manifest parsed, config::ParseManifest(text));
    ASSIGN_OR_RETURN(run_.run_dir, MakeRunDir(options_.out_dir));
    scenes_ = PlanSecondAct(options_);
    processes_.resize(run_.nodes.size());
    starts_.resize(run_.nodes.size());
    watcher_.OnPlanned(manifest, run_.nodes, note);
    RETURN_IF_ERROR(WriteFiles(text, graph));
    for (std::size_t i = options_.peers; i < run_.nodes.size(); ++i) {
      RETURN_IF_ERROR(WriteFile(InviteFile(i), InviteFor(options_, text, parsed, i)));
    }
    return base::OkStatus();
  }

  base::Status WriteFiles(const std::string& manifest, const train::GraphFiles& graph) {
    for (std::uint32_t i = 0; i < run_.nodes.size(); ++i) {
      ASSIGN_OR_RETURN(const std::string text,
                       crypto::EncodeKeyFile(SwarmKey(options_.seed, i), std::nullopt));
      RETURN_IF_ERROR(crypto::WriteKeyFile(KeyFile(i), text));
      const std::string name = SwarmNodeName(i);
      run_.nodes[i].data_dir = run_.run_dir + "/" + name;
      run_.nodes[i].log_file = run_.run_dir + "/" + name + ".log";
    }
    const std::string beside = GraphBeside(ManifestFile());
    if (!graph.text.empty()) RETURN_IF_ERROR(WriteFile(beside, graph.text));
    if (!graph.constants.empty()) {
      RETURN_IF_ERROR(WriteFile(train::ConstantsBeside(beside), graph.constants));
    }
    return WriteFile(ManifestFile(), manifest);
  }

  static base::Status WriteFile(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file ? base::OkStatus() : base::Unavailable("cannot write '" + path + "'");
  }

  // The --data argument of each node; empty if the program contains the data.
  std::string DataSourceText() const {
    const std::string& text = options_.manifest.manifest.training.data;
    return text.find(':') == std::string::npos ? "" : text;
  }

  std::string KeyFile(std::size_t i) const {
    return run_.run_dir + "/" + SwarmNodeName(i) + ".key";
  }
  std::string InviteFile(std::size_t i) const {
    return run_.run_dir + "/" + SwarmNodeName(i) + ".invite";
  }
  std::string ManifestFile() const { return run_.run_dir + "/run.toml"; }

  base::Status Start(std::size_t index) {
    const SwarmNode& node = run_.nodes[index];
    ProcessOptions process;
    process.program = os::OwnProgram();
    process.inherited_fd = sockets_[index].fd;
    process.stderr_file = node.log_file;
    process.arguments = {"node",
                         ManifestFile(),
                         "--key",
                         KeyFile(index),
                         "--data-dir",
                         node.data_dir,
                         "--listen-fd",
                         std::to_string(process.inherited_fd),
                         "--evaluate-every",
                         index == 0 ? std::to_string(options_.evaluate_every) : "0",
                         "--events"};
    // The page is the first one's.
    if (index > 0) process.arguments.insert(process.arguments.end(), {"--sample", "0"});
    if (!DataSourceText().empty()) {
      // Each node is a machine of its own, which has its own cache.
      process.arguments.insert(
          process.arguments.end(),
          {"--data", DataSourceText(), "--data-cache", options_.data_cache, "--data-cache-dir",
           run_.run_dir + "/" + SwarmNodeName(index) + ".data-cache"});
    }
    if (options_.manifest.allow_private_sources) {
      process.arguments.push_back("--allow-private-sources");
    }
    if (!options_.weights.empty()) {
      process.arguments.insert(process.arguments.end(), {"--origin", options_.weights});
    }
    if (!options_.kernels.empty()) {
      const std::string& kernels = options_.kernels[index % options_.kernels.size()];
      process.arguments.insert(process.arguments.end(), {"--kernels", kernels});
    }
    const std::vector<std::string>& devices = options_.devices;
    process.arguments.insert(
        process.arguments.end(),
        {"--device", devices.empty() ? "cpu" : devices[index % devices.size()]});
    AppendStateArguments(options_.states, process.arguments);
    if (index == 0) AddHttp(process.arguments);
    AddRelay(index, process.arguments);
    if (options_.unprotected) process.arguments.push_back("--unprotected");
    if (node.byzantine) AddAttack(process.arguments);
    // The others learn no address of it, so it says that it only dials.
    if (node.comes) {
      process.arguments.insert(process.arguments.end(),
                               {"--invite", InviteFile(index), "--reachable", "no"});
    }
    ASSIGN_OR_RETURN(Process started, Process::Start(process));
    processes_[index].emplace(std::move(started));
    starts_[index] = std::chrono::steady_clock::now();
    close(std::exchange(sockets_[index].fd, -1));
    return base::OkStatus();
  }

  // Through which the node dials the members.
  void AddRelay(std::size_t index, std::vector<std::string>& arguments) const {
    if (relay_ == nullptr) return;
    for (std::size_t other = 0; other < options_.peers; ++other) {
      if (other == index) continue;
      const std::string port = std::to_string(relay_->PortFor(index, other));
      arguments.insert(arguments.end(),
                       {"--peers", run_.nodes[other].id.Hex() + "@127.0.0.1:" + port});
    }
  }

  void AddHttp(std::vector<std::string>& arguments) const {
    if (options_.http.address.empty()) return;
    arguments.insert(arguments.end(), {"--http", options_.http.address});
    if (options_.http.remote) arguments.push_back("--http-remote");
  }

  void AddAttack(std::vector<std::string>& arguments) const {
    arguments.insert(arguments.end(),
                     {"--attack", options_.attack, "--attack-seed", std::to_string(options_.seed),
                      "--attack-from", std::to_string(options_.attack_from)});
    for (const SwarmNode& node : run_.nodes) {
      if (node.byzantine) arguments.insert(arguments.end(), {"--colluders", node.id.Hex()});
    }
    for (const std::string& param : options_.attack_params) {
      arguments.insert(arguments.end(), {"--attack-param", param});
    }
  }

  // For nodes that were told to stop.
  static constexpr std::chrono::seconds kBlockAtMost{2};

  base::Status Watch(const StopRequest& request) {
    while (Running()) {
      std::vector<pollfd> fds;
      for (const auto& process : processes_) {
        if (process) fds.push_back({process->stdout_fd(), POLLIN, 0});
      }
      // The time-out only bounds the delay in noticing an exit without output.
      if (poll(fds.data(), fds.size(), 200) < 0 && errno != EINTR) {
        return base::Unavailable(std::string("poll failed: ") + std::strerror(errno));
      }
      for (std::size_t i = 0; i < processes_.size(); ++i) RETURN_IF_ERROR(Read(i));
      RETURN_IF_ERROR(PlayScenes());
      EndStragglers();
      if (request.made() && !run_.interrupted) {
        run_.interrupted = true;
        told_ = std::chrono::steady_clock::now();
        TellAll(SIGTERM);
      }
      // Nodes that wait for a block wait for others that have ended.
      if (told_ && std::chrono::steady_clock::now() - *told_ > kBlockAtMost) {
        told_.reset();
        TellAll(SIGTERM);
      }
    }
    return base::OkStatus();
  }

  bool Running() const {
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
      if (processes_[i] && run_.nodes[i].exit_status < 0) return true;
    }
    return false;
  }

  // What is due by the blocks of the first node.
  base::Status PlayScenes() {
    while (!scenes_.empty() && reached_ >= scenes_.front().at_step && !run_.interrupted) {
      const Scene scene = scenes_.front();
      scenes_.erase(scenes_.begin());
      SwarmNode& node = run_.nodes[scene.node];
      if (scene.what == Scene::What::kComes) {
        RETURN_IF_ERROR(Start(scene.node));
      } else if (node.exit_status < 0) {
        node.leaves = true;
        processes_[scene.node]->Signal(SIGINT);
      }
      watcher_.OnScene(scene.node, node);
    }
    return base::OkStatus();
  }

  base::Status Read(std::size_t index) {
    SwarmNode& node = run_.nodes[index];
    if (!processes_[index] || node.exit_status >= 0) return base::OkStatus();
    // Poll before reading, so that everything written before the exit is read.
    const std::optional<int> status = processes_[index]->Poll();
    ASSIGN_OR_RETURN(const std::vector<std::string> lines, processes_[index]->ReadLines());
    for (const std::string& line : lines) {
      const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
      if (event.is_discarded() || !event.contains("event")) {
        return base::Internal("node " + std::to_string(index) +
                              " printed a line that is no event: " + line);
      }
      Take(index, event);
    }
    if (!status) return base::OkStatus();
    node.exit_status = *status;
    if (!node.report.is_null()) return base::OkStatus();
    last_end_ = std::chrono::steady_clock::now();
    node.last_words = LastLineOf(node.log_file);
    if (node.stopped) return base::OkStatus();
    if (node.started) {
      watcher_.OnLost(index, node);
      return base::OkStatus();
    }
    if (!run_.not_started) run_.not_started = index;
    TellAll(SIGTERM);
    return base::OkStatus();
  }

  // After the run is over, stop waiting for stragglers: a Byzantine node may be silent for ever,
  // and a node that lost touch may ask for data that no node is left to serve.
  void EndStragglers() {
    std::size_t honest_left = 0;
    bool finished = false;
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
      const SwarmNode& node = run_.nodes[i];
      if (node.byzantine || !processes_[i]) continue;
      if (node.exit_status < 0) ++honest_left;
      finished = finished || (node.report.is_object() && node.report["end"] == "finished");
    }
    if (honest_left > 0 && !finished) return;
    const auto now = std::chrono::steady_clock::now();
    if (honest_left_ != honest_left) {
      honest_left_ = honest_left;
      quiet_since_ = now;
    }
    const std::chrono::seconds patience(honest_left > 0 ? 60 : 5);
    if (now - quiet_since_ < patience) return;
    StopRest(now - quiet_since_ < patience + std::chrono::seconds(15) ? SIGTERM : SIGKILL);
  }

  void StopRest(int signal) {
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
      SwarmNode& node = run_.nodes[i];
      if (!processes_[i] || node.exit_status >= 0) continue;
      if (node.stopped && signal == SIGTERM) continue;
      node.stopped = true;
      processes_[i]->Signal(signal);
    }
  }

  void Take(std::size_t index, const nlohmann::json& event) {
    SwarmNode& node = run_.nodes[index];
    if (event["event"] == "started") node.started = true;
    if (event["event"] == "report") {
      node.report = event;
      last_end_ = std::chrono::steady_clock::now();  // it may stay for those who watch its page
    }
    if (index == 0) TakeFirst(event);
    watcher_.OnEvent(index, node, event);
  }

  // All honest nodes report equal results, so only the first is recorded.
  void TakeFirst(const nlohmann::json& event) {
    if (event["event"] == "evaluation") {
      run_.losses.push_back(
          {event["step"].get<std::uint64_t>(), NumberOf(event["loss"]), NumberOf(event["value"])});
    }
    if (event["event"] != "step") return;
    reached_ = event["step"].get<std::uint64_t>();
    for (const nlohmann::json& peer : event["returned"]) {
      run_.returns.push_back({peer, event["step"]});
    }
    if (!event.contains("came")) return;
    for (const nlohmann::json& peer : event["came"]) TakeNew({peer, event["step"]});
  }

  // A node that was started in the second act is admitted.
  void TakeNew(SwarmReturn came) {
    for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
      if (run_.nodes[i].id.Hex() != came.peer || !starts_[i]) continue;
      const auto now = std::chrono::steady_clock::now();
      came.seconds = std::chrono::duration<double>(now - *starts_[i]).count();
      run_.came.push_back(came);
      watcher_.OnCame(run_.came.back());
    }
  }

  void TellAll(int signal) {
    for (const auto& process : processes_) {
      if (process) process->Signal(signal);
    }
  }

  const SwarmOptions& options_;
  SwarmWatcher& watcher_;
  SwarmRun run_;
  std::vector<os::ListeningSocket> sockets_;
  std::unique_ptr<WanRelay> relay_;                // null: without --wan
  std::vector<std::optional<Process>> processes_;  // by node; none: not started yet
  // By node; none: not started yet.
  std::vector<std::optional<std::chrono::steady_clock::time_point>> starts_;
  std::vector<Scene> scenes_;                       // that are still to come
  std::uint64_t reached_ = 0;                       // step of the first node
  std::chrono::steady_clock::time_point last_end_;  // the newest report, or exit without one
  std::optional<std::size_t> honest_left_;          // still running after the end of the run
  std::optional<std::chrono::steady_clock::time_point> told_;  // to stop, and may wait for a block
  std::chrono::steady_clock::time_point quiet_since_;          // when honest_left_ last changed
};

}  // namespace

std::string SwarmNodeName(std::size_t index) { return "node" + std::to_string(index); }

base::StatusOr<SwarmRun> RunSwarm(const SwarmOptions& options, SwarmWatcher& watcher) {
  // The nodes share the cores: threads within a matrix product would only compete.
  setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/0);
  setenv("OMP_NUM_THREADS", "1", /*overwrite=*/0);
  return Swarm(options, watcher).Run();
}

}  // namespace ostraka::cli
