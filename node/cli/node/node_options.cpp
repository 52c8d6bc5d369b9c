#include "node/cli/node/node_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include "node/base/version.h"
#include "node/cli/node/other_work.h"
#include "node/cli/options/attack_options.h"
#include "node/cli/options/choices.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/options/peer_addresses.h"
#include "node/cli/options/source_options.h"
#include "node/cli/terminal/byte_count.h"
#include "node/cli/terminal/data_dir.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/views/node_answers.h"
#include "node/config/data_places.h"
#include "node/config/manifest_toml.h"
#include "node/config/stream_access.h"
#include "node/config/training.h"
#include "node/device/device_list.h"
#include "node/os/endpoint.h"
#include "node/protocol/ground/invite.h"
#include "node/protocol/ground/reach.h"
#include "node/train/data_source.h"
#include "node/train/stream/stream_index.h"
#include "sim/attacks/registry.h"

namespace ostraka::cli {
namespace {

// Addresses of members that the manifest names, or that are in `anchor`, which may be null.
base::StatusOr<std::map<base::PeerId, std::string>> MemberAddresses(
    const std::vector<std::string>& peers, const protocol::Manifest& manifest,
    const wire::Block* anchor) {
  ASSIGN_OR_RETURN(auto addresses, PeerAddresses(peers));
  std::set<base::PeerId> members;
  for (const protocol::Member& member : manifest.members) members.insert(member.id);
  if (anchor != nullptr) members.insert(anchor->members.begin(), anchor->members.end());
  for (const auto& [id, address] : addresses) {
    if (members.contains(id)) continue;
    const std::string where = anchor == nullptr ? "in its manifest" : "in its manifest or its link";
    return base::InvalidArgument("--peers: " + id.Short() + " is no member of this run " + where);
  }
  return addresses;
}

// 0: the option was not given.
base::StatusOr<std::uint64_t> BytesOf(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const auto bytes = ParseByteCount(text);
  if (bytes.ok() && *bytes > 0) return *bytes;
  return base::InvalidArgument(option + " " +
                               (bytes.ok() ? "must be above 0" : base::MessageOf(bytes.status())));
}

base::StatusOr<std::optional<std::uint8_t>> ComputePercentOf(const std::string& text,
                                                             const protocol::Manifest& manifest) {
  if (text.empty()) return std::optional<std::uint8_t>();
  unsigned percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string_view rest(end, text.data() + text.size());
  if (error != std::errc() || (!rest.empty() && rest != "%") || percent < 1 || percent > 100) {
    return base::InvalidArgument("--cpu must be 1% to 100%, not '" + text + "'");
  }
  if (!protocol::BatchesVary(manifest.training)) {
    return base::InvalidArgument(
        "--cpu lowers how many batches this node averages, and in this run all average " +
        std::to_string(manifest.training.batches) +
        ": leave it out (`ostraka run init --most-batches` makes a run where this may vary)");
  }
  return std::optional(static_cast<std::uint8_t>(percent));
}

base::StatusOr<host::RunNetwork> NetworkOf(const NodeNetworkOptions& options,
                                           const protocol::Manifest& manifest,
                                           const wire::Block* anchor, const std::string& data_dir) {
  host::RunNetwork network;
  network.listen_socket = os::Descriptor(options.listen_fd);
  ASSIGN_OR_RETURN(network.addresses, MemberAddresses(options.peers, manifest, anchor));
  if (!options.listen.empty()) {
    const auto address = os::ParseHostPort(options.listen);
    if (!address.ok()) {
      return base::InvalidArgument("--listen " + base::MessageOf(address.status()));
    }
  }
  network.listen = options.listen;
  ASSIGN_OR_RETURN(network.dht, DhtOf(options.dht));
  ASSIGN_OR_RETURN(network.max_bytes_per_second, BytesOf("--bandwidth", options.bandwidth));
  if (!options.lend.empty()) {
    const auto lend = ParseByteCount(options.lend);
    if (!lend.ok()) return base::InvalidArgument("--lend " + base::MessageOf(lend.status()));
    network.lend_bytes_per_second = *lend;
  }
  if (options.reachable == "yes" || options.reachable == "no") {
    network.reachable = options.reachable == "yes";
  } else if (!options.reachable.empty()) {
    return base::InvalidArgument("--reachable must be yes or no");
  }
  if (network.reachable && !protocol::CountsReach(manifest)) {
    return base::InvalidArgument(
        "--reachable changes nothing in this run, whose manifest lists no member that only dials: "
        "leave it out (`ostraka run init --only-dials` lists one)");
  }
  if (options.dial_back != "on" && options.dial_back != "off") {
    return base::InvalidArgument("--dial-back must be on or off");
  }
  network.dial_back = options.dial_back == "on";
  // The socket for `ostraka status DIR`, and the address that the user gives.
  std::vector<http::HttpPlace>& places = network.status.places;
  places.push_back({.address = {}, .socket_path = data_dir + "/" + kStatusSocketName});
  if (!options.http.address.empty()) {
    places.push_back({.address = options.http.address, .socket_path = {}});
  }
  return network;
}

// The machine that --attack makes of an honest one.
base::StatusOr<std::unique_ptr<protocol::Machine>> Attacker(
    const NodeLabOptions& lab, std::shared_ptr<const protocol::Manifest> manifest,
    std::shared_ptr<const crypto::SigningKey> key, const train::TrainerOptions& trainer,
    const base::TensorLayout& layout, const host::MachineMaker& honest) {
  std::vector<base::PeerId> colluders = {key->id()};
  for (const std::string& text : lab.colluders) {
    const auto id = base::PeerId::FromHexDigits(text);
    if (!id)
      return base::InvalidArgument("--colluders '" + text +
                                   "' is no peer id: give 64 hexadecimal digits, as `ostraka key "
                                   "show` prints them");
    if (*id != key->id()) colluders.push_back(*id);
  }
  sim::AdversaryOptions adversary;
  adversary.name = lab.attack;
  ASSIGN_OR_RETURN(adversary.params, ParseAttackParams(lab.attack_params));
  adversary.attack_from_step = lab.attack_from;
  adversary.manifest = std::move(manifest);
  adversary.key = std::move(key);
  adversary.layout = layout;
  adversary.coven = std::make_shared<sim::Coven>(std::move(colluders), lab.attack_seed);
  adversary.another = honest;
  if (sim::IsOnWork(lab.attack)) {
    ASSIGN_OR_RETURN(adversary.other_work, OtherWork(lab.attack, trainer));
  }
  return sim::MakeAdversary(std::move(adversary), honest());
}

// By the invite the key comes in, and members may be where it says.
base::Status TakeInvite(const InviteText& invite, host::RunOptions& run) {
  const base::Digest& run_id = run.manifest->run_id;
  if (invite.manifest.run_id != run_id) {
    return base::FailedPrecondition(
        "the invite is for run " + invite.manifest.run_id.Short() +
        ", and the manifest is of run " + run_id.Short() +
        ": use that run's manifest, or `ostraka join`, which needs none");
  }
  if (invite.pass) {
    const InvitePass& pass = *invite.pass;
    run.credential =
        protocol::UseInvite(run_id, pass.invite, pass.by_moderator, pass.holder, run.key->id());
  }
  run.network.addresses = invite.addresses;
  run.anchor = invite.anchor;
  return base::OkStatus();
}

void AddNetworkOptions(CLI::App& command, NodeNetworkOptions& options) {
  command.add_option("--peers", options.peers,
                     "ID@HOST:PORT: addresses that replace those of the manifest");
  command.add_option("--listen", options.listen,
                     "HOST:PORT to listen on, *:PORT for all addresses of this machine (default: "
                     "all, with the port of the manifest; a loopback address only on itself)");
  command.add_option("--listen-fd", options.listen_fd,
                     "descriptor of a socket that listens already (socket activation)");
  command.add_option("--bandwidth", options.bandwidth,
                     "limit on bytes of gradients per second, in each direction (10M, 500K)");
  command.add_option(
      "--lend", options.lend,
      "of data in chunks, what other members may borrow from this node, in bytes per "
      "second (500K; 0: nothing; default: an eighth of --bandwidth, or 512K)");
  OfferChoices(
      command.add_option("--reachable", options.reachable,
                         "yes or no: declare that others can dial this node, or that they cannot "
                         "(default: as the run says; yes after no counts once in 100 steps)"),
      {"yes", "no"});
  OfferChoices(
      command.add_option("--dial-back", options.dial_back,
                         "on: have members try whether they can dial this node, and try it for "
                         "those that ask, at the address of their link; off: neither"),
      {"on", "off"})
      ->capture_default_str();
  AddHttpOptions(command, options.http);
  AddDhtOptions(command, options.dht);
}

}  // namespace

namespace {

base::StatusOr<config::Agreement> AgreementOf(const NodeFileOptions& files) {
  const auto agreement = config::FindAgreement(files.sources);
  if (agreement) return *agreement;
  return base::InvalidArgument("--sources must be no, yes or private");
}

// Null unless `data` are fetched.
base::StatusOr<std::shared_ptr<const train::StreamAccess>> StreamOf(
    const NodeFileOptions& files, const std::string& data, const protocol::Manifest& manifest,
    config::Agreement agreement) {
  if (!data.starts_with(std::string(train::kStream) + ":")) return nullptr;
  config::StreamSettings settings{
      .cache_root = files.data_cache_dir,
      .allow_private = files.allow_private_sources,
      .allow_private_of_manifest = agreement == config::Agreement::kPrivate};
  // What the user names, too, is the user's own.
  const std::vector<std::string> own = config::AddressesOf(files.data);
  for (const std::string& place : manifest.training.data_places) {
    if (std::find(own.begin(), own.end(), place) == own.end()) settings.of_manifest.insert(place);
  }
  ASSIGN_OR_RETURN(settings.cache_bytes, ParseByteCount(files.data_cache));  // checked before
  if (settings.cache_root.empty()) {
    ASSIGN_OR_RETURN(settings.cache_root, DefaultDataRoot());
    settings.cache_root += "/data-cache";
  }
  return config::StreamAccessOf(settings);
}

}  // namespace

base::StatusOr<host::RunOptions> RunOptionsOf(const NodeCommandOptions& options, ReadOnce& once) {
  host::RunOptions run;
  RETURN_IF_ERROR(CheckHttp(options.network.http));
  ASSIGN_OR_RETURN(protocol::Manifest manifest, config::ReadManifestFile(options.files.manifest));
  run.manifest = std::make_shared<const protocol::Manifest>(std::move(manifest));
  if (once.key == nullptr) {
    ASSIGN_OR_RETURN(crypto::SigningKey key, LoadKey(options.files.key, options.files.passphrase));
    once.key = std::make_shared<const crypto::SigningKey>(std::move(key));
  }
  run.key = once.key;
  ASSIGN_OR_RETURN(run.states.evaluate_on, HeldOutOf(options.states));
  run.states.evaluate_every = options.evaluate_every;
  run.states.checkpoint_every = options.states.checkpoint_every;
  run.states.keep_checkpoints = options.states.keep_checkpoints;
  ASSIGN_OR_RETURN(run.files.data_dir, DataDirOf(options.files.data_dir, run.manifest->run_id));
  if (once.invite == nullptr && !options.files.invite.empty()) {
    ASSIGN_OR_RETURN(InviteText invite, ReadInvite(options.files.invite));
    once.invite = std::make_shared<const InviteText>(std::move(invite));
  }
  if (once.invite != nullptr) RETURN_IF_ERROR(TakeInvite(*once.invite, run));
  run.files.lock_folders = LockFolders(options.files.key);
  ASSIGN_OR_RETURN(const config::Agreement agreement, AgreementOf(options.files));
  ASSIGN_OR_RETURN(run.files.data,
                   config::DataToRead(*run.manifest, options.files.data, agreement));
  ASSIGN_OR_RETURN(run.files.stream,
                   StreamOf(options.files, run.files.data, *run.manifest, agreement));
  run.files.graph = GraphFileOf(options.files.graph, options.files.manifest, *run.manifest);
  run.kernels = options.lab.kernels;
  run.threads = options.threads;
  run.checks_pace = true;
  run.recompute = options.recompute;
  run.sample_tokens = options.sample_tokens;
  run.device = options.device;
  ASSIGN_OR_RETURN(run.device_memory, BytesOf("--device-memory", options.device_memory));
  ASSIGN_OR_RETURN(run.compute_percent, ComputePercentOf(options.cpu, *run.manifest));
  run.files.origin = options.files.origin;
  if (!options.recording.folder.empty()) {
    ASSIGN_OR_RETURN(const std::string text, config::ReadManifestText(options.files.manifest));
    run.recording = {options.recording.folder,
                     {.bytes = options.recording.limit_mib << 20,
                      .steps = options.recording.limit_steps,
                      .keep = options.recording.keep},
                     base::Bytes(text.begin(), text.end()),
                     base::ProgramVersion()};
  }
  std::map<base::PeerId, std::string> addresses = std::move(run.network.addresses);
  ASSIGN_OR_RETURN(run.network,
                   NetworkOf(options.network, *run.manifest, run.anchor.get(), run.files.data_dir));
  run.network.addresses.merge(addresses);  // --peers come first
  run.unprotected = options.lab.unprotected;
  if (options.lab.Attacks()) {
    ASSIGN_OR_RETURN(train::TrainerOptions trainer, host::TrainerOptionsOf(run));
    run.machine = [lab = options.lab, of = run.manifest, own = run.key, trainer](
                      const host::MachineMaker& honest, const base::TensorLayout& layout) {
      return Attacker(lab, of, own, trainer, layout, honest);
    };
  }
  return run;
}

void AddNodeOptions(CLI::App& command, NodeCommandOptions& options) {
  command.add_option("manifest", options.files.manifest, "the run's manifest")->required();
  command.add_option("--key", options.files.key, "identity key file")->required();
  command.add_option("--invite", options.files.invite,
                     "link or file by which a key comes in that the manifest does not name");
  AddNodeSettings(command, options);
}

void AddNodeSettings(CLI::App& command, NodeCommandOptions& options) {
  AddPassphraseOptions(command, options.files.passphrase);
  command.add_option(
      "--data-dir", options.files.data_dir,
      "folder of the ledger and the checkpoints (default ~/.local/share/ostraka/<run id>)");
  AddNetworkOptions(command, options.network);
  OfferChoices(
      command.add_option(
          "--data", options.files.data,
          "mnist:DIR, cifar10:DIR, text:FILE, tokens:FILE or examples:FILE: where the "
          "run's data is on this machine; stream:PLACE,...: folders or https:// addresses"),
      train::DataSourceBeginnings());
  OfferChoices(command.add_option("--sources", options.files.sources,
                                  "yes: fetch the run's data from the addresses that its manifest "
                                  "names, too (`ostraka run show` lists them); private: also "
                                  "where these are of this machine or of private networks"),
               {"no", "yes", "private"})
      ->capture_default_str();
  AddDataCache(command, options.files.data_cache);
  WritesTo(command.add_option("--data-cache-dir", options.files.data_cache_dir,
                              "where (default: ~/.local/share/ostraka/data-cache)"));
  AddPrivateSources(command, options.files.allow_private_sources);
  command.add_option("--graph", options.files.graph,
                     "the run's graph file, if it trains one (default: the manifest's path and "
                     ".graph)");
  command.add_option("--origin", options.files.origin,
                     "file with the initial state, for a run made by `run recover` or `run init "
                     "--from`");
  WritesTo(command.add_option("--record", options.recording.folder,
                              "record in this folder what the node is given and says, for `ostraka "
                              "replay`; no key or passphrase is in it"));
  command
      .add_option("--record-limit", options.recording.limit_mib,
                  "end the recording with the step in which it has so many MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      .add_option("--record-steps", options.recording.limit_steps,
                  "end the recording after so many steps (0: by its size alone)")
      ->capture_default_str();
  command
      .add_option("--record-keep", options.recording.keep,
                  "keep the recordings of so many starts of the node in this run, and of as many "
                  "that completed no step")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--evaluate-every", options.evaluate_every,
                  "steps between evaluations on held-out data; 0: only at the end")
      ->capture_default_str();
  command
      .add_option("--sample", options.sample_tokens,
                  "tokens that a model of texts writes after each evaluation, for people; 0: none")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  AddStateOptions(command, options.states);
  command
      .add_option("--threads", options.threads,
                  "threads of an exact gradient, which change no bit of it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.add_flag("--recompute", options.recompute,
                   "of an exact gradient, compute parts twice instead of keeping them in memory, "
                   "which changes no bit");
  OfferChoices(
      command
          .add_option("--device", options.device,
                      "what computes exact gradients, which changes no bit: cpu; opencl:N or "
                      "cuda:N, as `ostraka doctor` lists them; auto: the fastest that computes the "
                      "processor's bits")
          ->capture_default_str(),
      {device::kProcessor, device::kAnyDevice, "opencl:0", "cuda:0"});
  command.add_option("--device-memory", options.device_memory,
                     "bytes that the run may take on a device, 6G (default: nine tenths)");
  command.add_option(
      "--cpu", options.cpu,
      "share of this machine, 50%: average so many fewer batches than it could, in a "
      "run where their number may vary (`run init --most-batches`)");
  command.add_option("--hours", options.hours,
                     "hours of the day in which it takes part, 22-7 or 22:30-7:15, by this "
                     "machine's clock; it leaves and comes back by itself, as by `ostraka pause`");
  command.add_flag("--json", options.output.json, "print the final report as one JSON object");
  command.add_flag("--events", options.output.events, "print each event as one line of JSON");
  AddLogOptions(command, options.output.log);
  OfferChoices(command.get_option("--log-level"), LogLevelNames());
  const char* lab = "Experiments: a node that misbehaves on purpose";
  command.add_flag("--unprotected", options.lab.unprotected, "average gradients without any check")
      ->group(lab);
  OfferChoices(command.add_option(
                   "--kernels", options.lab.kernels,
                   "exact gradients by the kernels for scalar, avx2, avx512 or neon: equal bits, "
                   "another speed (default: the widest)"),
               KernelNames())
      ->group(lab);
  OfferChoices(command.add_option("--attack", options.lab.attack, "name of the attack"),
               AttackNames())
      ->group(lab);
  command
      .add_option("--attack-param", options.lab.attack_params,
                  "NAME=VALUE, a parameter of the attack")
      ->group(lab);
  command.add_option("--attack-from", options.lab.attack_from, "first step under attack")
      ->group(lab);
  command
      .add_option("--attack-seed", options.lab.attack_seed, "random seed, equal for all colluders")
      ->group(lab);
  command.add_option("--colluders", options.lab.colluders, "peer ids of all colluders")->group(lab);
}

}  // namespace ostraka::cli
