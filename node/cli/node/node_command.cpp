// ostraka node: one member of a run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/node/commands.h"
#include "node/cli/node/recovery.h"
#include "node/cli/options/attack_options.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/state_options.h"
#include "node/cli/terminal/byte_count.h"
#include "node/cli/terminal/data_dir.h"
#include "node/cli/terminal/log.h"
#include "node/cli/terminal/passphrase.h"
#include "node/cli/views/node_answers.h"
#include "node/cli/views/node_json.h"
#include "node/cli/views/node_view.h"
#include "node/config/manifest_toml.h"
#include "node/config/origin.h"
#include "node/config/training.h"
#include "node/host/node_driver.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/state.h"
#include "node/protocol/member/peer.h"
#include "node/store/key_lock.h"
#include "node/train/trainer_loader.h"
#include "node/wire/limits.h"
#include "sim/attacks/registry.h"

namespace ostraka::cli {
namespace {

struct NodeCommandOptions {
  std::string manifest_file;
  std::string key_file;
  PassphraseOptions passphrase;
  std::vector<std::string> peers;  // ID@HOST:PORT
  std::string data_dir;
  std::string listen;
  int listen_fd = -1;
  std::string http;  // HOST:PORT
  bool http_remote = false;
  std::string data;    // this node's copy of the run's data
  std::string origin;  // file of the state that the run begins with
  std::uint64_t evaluate_every = 0;
  std::string record_frames;
  StateOptions states;
  bool unprotected = false;
  bool events = false;
  bool json = false;
  LogOptions log;
  std::string bandwidth;  // bytes per second
  std::string attack;
  std::vector<std::string> attack_params;  // name=value
  std::vector<std::string> colluders;      // ids
  std::uint64_t attack_seed = 0;
  std::uint64_t attack_from = 0;
};

// Replaces addresses of the manifest by those on the command line.
base::Status OverrideAddresses(const std::vector<std::string>& peers,
                               std::vector<net::TransportMember>& members) {
  for (const std::string& text : peers) {
    const std::size_t at = text.find('@');
    const auto id = base::PeerId::FromHexDigits(text.substr(0, at));
    if (!id || at == std::string::npos) {
      return base::InvalidArgument("--peers '" + text + "': write ID@HOST:PORT");
    }
    const auto address = os::ParseHostPort(text.substr(at + 1));
    if (!address.ok()) return base::InvalidArgument("--peers " + base::MessageOf(address.status()));
    bool known = false;
    for (auto& member : members) {
      if (member.id != *id) continue;
      member.address = text.substr(at + 1);
      known = true;
    }
    if (!known)
      return base::InvalidArgument("--peers: " + id->Short() + " is no member of this run");
  }
  return base::OkStatus();
}

base::StatusOr<net::TransportOptions> MakeTransport(const NodeCommandOptions& options,
                                                    const protocol::Manifest& manifest,
                                                    std::shared_ptr<const crypto::SigningKey> key,
                                                    std::uint64_t dimension) {
  net::TransportOptions transport;
  transport.run_id = manifest.run_id;
  transport.protocol_version = manifest.protocol_version;
  for (const protocol::Member& member : manifest.members) {
    transport.members.push_back({member.id, member.address});
    if (member.id == key->id()) transport.listen = member.address;
  }
  RETURN_IF_ERROR(OverrideAddresses(options.peers, transport.members));
  if (!options.listen.empty()) {
    const auto address = os::ParseHostPort(options.listen);
    if (!address.ok()) {
      return base::InvalidArgument("--listen " + base::MessageOf(address.status()));
    }
    transport.listen = options.listen;
  }
  if (options.listen_fd >= 0) transport.listen.clear();
  transport.listen_fd = options.listen_fd;
  transport.key = std::move(key);
  const std::uint64_t part = protocol::LargestPart(dimension) * sizeof(float);
  // A returning member fetches chunks of a state, and blocks. Blocks grow with the number of cases
  // that n members can have open and with the ballots on them.
  const std::uint64_t n = manifest.members.size();
  const std::uint64_t block = std::min<std::uint64_t>(wire::kMaxBlockBytes, 65'536 + 640 * n * n);
  transport.max_blob_bytes = std::max({part, std::uint64_t{wire::kStateChunkBytes}, block});
  transport.allow_unhashed = options.unprotected;
  if (!options.bandwidth.empty()) {
    const auto cap = ParseByteCount(options.bandwidth);
    if (!cap.ok() || *cap == 0) {
      return base::InvalidArgument("--bandwidth " +
                                   (cap.ok() ? "must be above 0" : base::MessageOf(cap.status())));
    }
    transport.max_bytes_per_second = *cap;
  }
  return transport;
}

using MachineMaker = std::function<std::unique_ptr<protocol::Machine>()>;

// An honest machine, or the one that --attack makes of it.
base::StatusOr<std::unique_ptr<protocol::Machine>> MakeMachine(
    const NodeCommandOptions& options, std::shared_ptr<const protocol::Manifest> manifest,
    std::shared_ptr<const crypto::SigningKey> key, const base::TensorLayout& layout,
    MachineMaker honest) {
  std::unique_ptr<protocol::Machine> machine = honest();
  if (options.attack.empty() || options.attack == "none") return machine;
  std::vector<base::PeerId> colluders = {key->id()};
  for (const std::string& text : options.colluders) {
    const auto id = base::PeerId::FromHexDigits(text);
    if (!id) return base::InvalidArgument("--colluders '" + text + "': give peer ids");
    if (*id != key->id()) colluders.push_back(*id);
  }
  sim::AdversaryOptions adversary;
  adversary.name = options.attack;
  ASSIGN_OR_RETURN(adversary.params, ParseAttackParams(options.attack_params));
  adversary.attack_from_step = options.attack_from;
  adversary.manifest = std::move(manifest);
  adversary.key = std::move(key);
  adversary.layout = layout;
  adversary.coven = std::make_shared<sim::Coven>(std::move(colluders), options.attack_seed);
  adversary.another = std::move(honest);
  return sim::MakeAdversary(std::move(adversary), std::move(machine));
}

struct Node {
  std::unique_ptr<store::CheckpointWriter> checkpoints;  // outlives the driver, which feeds it
  std::unique_ptr<Log> log;
  std::unique_ptr<host::NodeEvents> events;
  std::optional<store::KeyLock> key_lock;
  std::unique_ptr<host::NodeDriver> driver;
  base::TensorLayout layout;
  base::PeerId self;
};

// Anyone who can connect can read the members, their ids and their state, without a password.
base::Status CheckHttp(const NodeCommandOptions& options) {
  if (options.http.empty()) return base::OkStatus();
  const auto address = os::ParseHostPort(options.http);
  if (!address.ok()) return base::InvalidArgument("--http " + base::MessageOf(address.status()));
  if (options.http_remote || http::IsLoopback(options.http)) return base::OkStatus();
  return base::InvalidArgument("--http " + options.http +
                               ": other machines could read it without a password; use 127.0.0.1 "
                               "(and an SSH tunnel), or add --http-remote if the network is yours");
}

// The socket for `ostraka status DIR`, and the address that the user gives.
std::vector<http::HttpPlace> StatusPlaces(const NodeCommandOptions& options,
                                          const std::string& data_dir) {
  std::vector<http::HttpPlace> places;
  places.push_back({.address = {}, .socket_path = data_dir + "/" + kStatusSocketName});
  if (!options.http.empty()) places.push_back({.address = options.http, .socket_path = {}});
  return places;
}

base::StatusOr<Node> Build(const NodeCommandOptions& options) {
  Node node;
  ASSIGN_OR_RETURN(node.log,
                   Log::Open(options.log, options.events ? LogLevel::kWarning : LogLevel::kInfo));
  RETURN_IF_ERROR(CheckHttp(options));
  ASSIGN_OR_RETURN(protocol::Manifest parsed, config::ReadManifestFile(options.manifest_file));
  const auto manifest = std::make_shared<const protocol::Manifest>(std::move(parsed));
  ASSIGN_OR_RETURN(crypto::SigningKey loaded, LoadKey(options.key_file, options.passphrase));
  const auto key = std::make_shared<const crypto::SigningKey>(std::move(loaded));
  bool member = false;
  for (const auto& entry : manifest->members) member = member || entry.id == key->id();
  if (!member) {
    return base::FailedPrecondition("key " + key->id().Short() +
                                    " is no member of this run: ask for a manifest that lists it");
  }
  ASSIGN_OR_RETURN(const train::HeldOut evaluate_on, HeldOutOf(options.states));
  ASSIGN_OR_RETURN(const train::TrainerOptions trainer_options,
                   config::TrainerOptionsOf(*manifest, options.data, evaluate_on));
  ASSIGN_OR_RETURN(std::unique_ptr<train::Trainer> trainer, train::MakeTrainer(trainer_options));
  node.self = key->id();
  node.layout = trainer->layout();
  const std::uint64_t dimension = base::ElementCount(node.layout);
  RETURN_IF_ERROR(config::CheckDimension(dimension, manifest->members.size()));
  ASSIGN_OR_RETURN(net::TransportOptions transport,
                   MakeTransport(options, *manifest, key, dimension));

  protocol::PeerOptions peer;
  peer.manifest = manifest;
  peer.key = key;
  peer.verifier = std::make_shared<crypto::PlainVerifier>();
  peer.layout = node.layout;
  ASSIGN_OR_RETURN(const protocol::ModelState origin,
                   config::ReadOrigin(*manifest, options.origin, node.layout));
  peer.initial_parameters = origin.parameters;
  peer.initial_velocity = origin.velocity;
  if (origin.parameters == nullptr) {
    peer.initial_parameters =
        std::make_shared<const std::vector<float>>(trainer->InitialParameters(manifest->run_id));
  }
  const auto honest = [peer = std::move(peer), plain = options.unprotected] {
    return plain ? protocol::MakePlainPeer(peer) : protocol::MakePeer(peer);
  };
  host::NodeOptions node_options;
  ASSIGN_OR_RETURN(node_options.machine, MakeMachine(options, manifest, key, node.layout, honest));
  ASSIGN_OR_RETURN(node.key_lock, store::KeyLock::Claim(manifest->run_id, key->id(),
                                                        LockFolders(options.key_file)));
  ASSIGN_OR_RETURN(const std::string data_dir, DataDirOf(options.data_dir, manifest->run_id));
  ASSIGN_OR_RETURN(
      node_options.ledger,
      store::Ledger::Open({.data_dir = data_dir, .run_id = manifest->run_id, .peer = key->id()}));
  node_options.coin_seed = crypto::CoinSeed(*key, manifest->run_id);
  ASSIGN_OR_RETURN(node_options.restored, node_options.ledger->Restore());
  node_options.trainer = std::move(trainer);
  node_options.transport = std::move(transport);
  node_options.evaluate_every = options.evaluate_every;
  node_options.record_file = options.record_frames;
  node_options.http = StatusPlaces(options, data_dir);
  node_options.http_answer = [steps = manifest->training.steps](std::string_view path,
                                                                const host::NodeStatus& status) {
    return AnswerHttp(path, status, steps);
  };
  node.checkpoints = MakeCheckpointWriter(options.states, *manifest, data_dir, node.layout);
  node_options.on_state = [writer = node.checkpoints.get()](const protocol::StepDone& done) {
    writer->Offer(done);
  };
  node.events = options.events ? MakeJsonView(*node.log)
                               : MakePeopleView(manifest->training.steps, *node.log);
  ASSIGN_OR_RETURN(node.driver, host::NodeDriver::Make(std::move(node_options), *node.events));
  return node;
}

ExitCode ExitCodeOf(host::NodeEnd end) {
  switch (end) {
    case host::NodeEnd::kFinished:
      return kDone;
    case host::NodeEnd::kBanned:
    case host::NodeEnd::kDiverged:
    case host::NodeEnd::kForked:
    case host::NodeEnd::kInterrupted:
      return kNegative;
    case host::NodeEnd::kStalled:
    case host::NodeEnd::kFailed:
      return kEnvironment;
  }
  return kEnvironment;
}

ExitCode RunNode(const NodeCommandOptions& options) {
  auto node = Build(options);
  if (!node.ok()) return Fail(node.status());
  if (!options.attack.empty() && options.attack != "none") {
    std::fprintf(stderr, "this node is Byzantine: it attacks with %s\n", options.attack.c_str());
  }
  const host::NodeReport report = node->driver->Run();
  const base::StatusOr<std::string> checkpoint = node->checkpoints->Finish();
  nlohmann::json result = ReportJson(report, node->self, node->layout);
  if (checkpoint.ok()) {
    result["checkpoint"] = *checkpoint;
    if (!options.events) std::fprintf(stderr, "the state is in %s\n", checkpoint->c_str());
  }
  if (options.events) result["event"] = "report";
  if (options.events || options.json) PrintJson(result);
  // A run whose result is lost has failed, whatever its outcome.
  if (!checkpoint.ok() && report.steps_done > 0) return Fail(checkpoint.status());
  return ExitCodeOf(report.outcome.end);
}

}  // namespace

void AddNodeCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("node", "be a member of a run");
  auto options = std::make_shared<NodeCommandOptions>();
  command->add_option("manifest", options->manifest_file, "the run's manifest")->required();
  command->add_option("--key", options->key_file, "identity key file")->required();
  AddPassphraseOptions(*command, options->passphrase);
  command->add_option("--peers", options->peers,
                      "ID@HOST:PORT: addresses instead of the manifest's");
  command->add_option("--data-dir", options->data_dir,
                      "where the ledger is kept (default ~/.local/share/ostraka/<run id>)");
  command->add_option("--listen", options->listen, "HOST:PORT instead of the manifest's");
  command->add_option("--listen-fd", options->listen_fd,
                      "take over this listening socket (socket activation)");
  command->add_option("--bandwidth", options->bandwidth,
                      "send, and take, at most so many bytes of gradients a second (10M, 500K)");
  command->add_option("--http", options->http,
                      "HOST:PORT (port 0: any) for /status, /metrics (Prometheus) and /healthz; "
                      "on this machine only");
  command->add_flag("--http-remote", options->http_remote,
                    "let --http listen on addresses that other machines reach");
  command->add_option("--data", options->data,
                      "mnist:DIR, cifar10:DIR or text:FILE, where this node has the run's data");
  command->add_option("--origin", options->origin,
                      "file of the state that the run goes on from, if it does (run recover)");
  command->add_option("--record-frames", options->record_frames,
                      "append every frame that comes to this file: for audits from outside");
  command->add_option("--evaluate-every", options->evaluate_every,
                      "evaluate on held-out data every so many steps; 0: at the end");
  AddStateOptions(*command, options->states);
  command->add_flag("--json", options->json, "print a final report as one JSON object");
  command->add_flag("--events", options->events, "print one JSON object a line for each event");
  AddLogOptions(*command, options->log);
  const char* lab = "For experiments: misbehave on purpose";
  command->add_flag("--unprotected", options->unprotected, "plain averaging, nothing checked")
      ->group(lab);
  command->add_option("--attack", options->attack, "attack by this name")->group(lab);
  command->add_option("--attack-param", options->attack_params, "name=value")->group(lab);
  command->add_option("--attack-from", options->attack_from, "honest before this step")->group(lab);
  command->add_option("--attack-seed", options->attack_seed, "shared by colluders")->group(lab);
  command->add_option("--colluders", options->colluders, "peer ids of all colluders")->group(lab);
  command->footer(
      "Example: ostraka node run.toml --key me.key\n"
      "         ostraka node run.toml --key me.key --http 127.0.0.1:9464\n"
      "Ctrl-C stops cleanly. Exit 0: the run finished; 1: banned or stopped; 3: no peers, no disk");
  command->callback(
      [options, &invocation] { invocation.body = [options] { return RunNode(*options); }; });
}

}  // namespace ostraka::cli
