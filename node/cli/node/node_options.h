// The options of `ostraka node`, and the run that they describe.
//
// Thread safety: AddNodeOptions before parsing; RunOptionsOf reads files and the environment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/cli/options/dht_options.h"
#include "node/cli/options/http_options.h"
#include "node/cli/options/invite_link.h"
#include "node/cli/options/state_options.h"
#include "node/cli/terminal/log.h"
#include "node/cli/terminal/passphrase.h"
#include "node/host/run_options.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct NodeFileOptions {
  std::string manifest;
  std::string key;
  std::string invite;  // a link or a file; empty: the key needs none
  PassphraseOptions passphrase;
  std::string data_dir;
  std::string data;                    // this node's copy of the run's data
  std::string data_cache = "2G";       // bytes of what is fetched of it
  std::string data_cache_dir;          // empty: in DefaultDataRoot()
  std::string sources = "no";          // config::Agreement
  bool allow_private_sources = false;  // config::StreamSettings::allow_private
  std::string graph;                   // and of its graph file; empty: beside the manifest
  std::string origin;                  // file of the state that the run begins with
};

struct NodeNetworkOptions {
  std::vector<std::string> peers;  // ID@HOST:PORT
  std::string listen;
  int listen_fd = -1;
  std::string bandwidth;  // bytes per second
  std::string lend;       // likewise; empty: as the bandwidth says
  std::string reachable;  // yes, no; empty: as the run says
  std::string dial_back = "on";
  DhtOptions dht;
  HttpOptions http;
};

struct NodeOutputOptions {
  bool events = false;
  bool json = false;
  LogOptions log;
};

// For experiments: a node that misbehaves on purpose.
struct NodeLabOptions {
  bool Attacks() const { return !attack.empty() && attack != "none"; }
  bool unprotected = false;
  std::string kernels;  // of exact gradients
  std::string attack;
  std::vector<std::string> attack_params;  // name=value
  std::vector<std::string> colluders;      // ids
  std::uint64_t attack_seed = 0;
  std::uint64_t attack_from = 0;
};

struct RecordingOptions {
  std::string folder;  // empty: none
  std::uint64_t limit_mib = 64;
  std::uint64_t limit_steps = 0;
  std::uint64_t keep = 2;
};

struct NodeCommandOptions {
  NodeFileOptions files;
  RecordingOptions recording;
  NodeNetworkOptions network;
  StateOptions states;
  std::uint64_t evaluate_every = 10;
  std::string cpu;    // "50%"; empty: all
  std::string hours;  // "22-7"; empty: all
  std::size_t threads = 1;
  bool recompute = false;
  std::size_t sample_tokens = 48;
  std::string device = "auto";  // config::LocalTraining::device
  std::string device_memory;    // a byte count; empty: most of it
  NodeOutputOptions output;
  NodeLabOptions lab;
};

// The manifest, the key and the invite, and AddNodeSettings.
void AddNodeOptions(CLI::App& command, NodeCommandOptions& options);
// What `ostraka node` and `ostraka join` share.
void AddNodeSettings(CLI::App& command, NodeCommandOptions& options);

// What a node reads once, however often it rests: nobody types a passphrase twice, and the file of
// an invite may be gone when the node comes back.
struct ReadOnce {
  std::shared_ptr<const crypto::SigningKey> key = {};
  std::shared_ptr<const InviteText> invite = {};  // null: the key needs none
};

// InvalidArgument: a bad option, or an address that other machines can reach without --http-remote.
// Also the errors of ReadManifestFile, LoadKey, ReadInvite and DataDirOf. The places of the status
// are named and not yet answered (page_service.h). Reads what `once` lacks. Takes over --listen-fd.
base::StatusOr<host::RunOptions> RunOptionsOf(const NodeCommandOptions& options, ReadOnce& once);

}  // namespace ostraka::cli
