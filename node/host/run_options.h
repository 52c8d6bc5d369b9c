// Everything that opens a run. Values only: the caller has read its own files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crypto/sign.h"
#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/tensor_layout.h"
#include "node/host/report/status_service.h"
#include "node/net/reach/reach_options.h"
#include "node/os/descriptor.h"
#include "node/protocol/ground/machine.h"
#include "node/protocol/ground/manifest.h"
#include "node/store/recording_file.h"
#include "node/train/trainer.h"
#include "node/wire/messages.h"

namespace ostraka::host {

struct RunFiles {
  std::string data_dir;  // for this run and key alone
  // Folders in which this user's processes lock the key (node/store/key_lock.h).
  std::vector<std::string> lock_folders;
  std::string data;  // where this computer keeps the run's data (node/config/training.h)
  std::shared_ptr<const train::StreamAccess> stream = nullptr;  // config::LocalTraining::stream
  std::string graph;   // and the run's graph file, if it trains one
  std::string origin;  // file of the state that the run goes on from, if it does
};

// Half of an uplink of 8 Mbit/s. Nobody knows how fast the line is.
inline constexpr std::uint64_t kLendWithoutLimit = 512 << 10;

struct RunNetwork {
  // "host:port" for each member whose address in the manifest is replaced; an empty value: that
  // member dials us.
  std::map<base::PeerId, std::string> addresses;
  // "host:port" to listen on, "*:port" for all addresses of this machine; empty: the port of this
  // member's address in the manifest (os::ListeningAddressFor).
  std::string listen;
  os::Descriptor listen_socket{-1};  // a listening socket to use instead
  // What this member declares of itself in each step: it can be dialed from outside, or not.
  // Nullopt: what the run says of it already, at first the manifest; of one that is to come in,
  // whether it listens and the DHT is on.
  std::optional<bool> reachable;
  // For all links together, in each direction; control messages count but never wait; 0: no limit.
  std::uint64_t max_bytes_per_second = 0;
  // Of data in chunks, what members may borrow from this node; 0: nothing. Nullopt: an eighth of
  // the limit above, or kLendWithoutLimit.
  std::optional<std::uint64_t> lend_bytes_per_second = {};
  net::ReachOptions dht;  // `learned` is read from the data folder
  bool dial_back = true;  // FinderOptions
  StatusService status;
};

struct RunStates {
  train::HeldOut evaluate_on = train::HeldOut::kTest;
  std::uint64_t evaluate_every = 0;      // steps; 0: only the last state
  std::uint64_t checkpoint_every = 100;  // steps; 0: only the last state
  std::uint64_t keep_checkpoints = 3;    // files. REQUIRES: at least 1
};

// So that what the machine does can be replayed elsewhere (`ostraka replay`).
struct RunRecording {
  std::string folder;  // empty: the machine is not recorded
  store::RecordingLimits limits;
  base::Bytes manifest;  // the manifest's file
  std::string program;   // the version of ostraka, for people
};

// Makes an honest machine that has not started.
using MachineMaker = std::function<std::unique_ptr<protocol::Machine>()>;

struct RunOptions {
  std::shared_ptr<const protocol::Manifest> manifest;  // REQUIRES: not null
  std::shared_ptr<const crypto::SigningKey> key;       // REQUIRES: not null
  // By which the key comes in, if it is not of the manifest and not of this data folder.
  std::optional<wire::Credential> credential = {};
  // Where it begins then (node/protocol/member/peer.h); null: at the genesis.
  std::shared_ptr<const wire::Block> anchor = nullptr;
  RunFiles files;
  RunNetwork network;
  RunStates states;
  RunRecording recording;
  std::string kernels;  // of exact gradients; empty: the widest of this machine
  // Of the batches that this machine could average, the share that it gives, 1 to 100; none: all.
  std::optional<std::uint8_t> compute_percent = {};
  std::size_t threads = 1;          // of an exact gradient
  bool recompute = false;           // train::TrainerOptions::recompute
  std::size_t sample_tokens = 0;    // likewise
  std::string device = "cpu";       // config::LocalTraining::device
  std::uint64_t device_memory = 0;  // config::LocalTraining::device_memory
  // A node whose data folder is empty is refused if its work would always come too late.
  bool checks_pace = false;
  bool unprotected = false;  // plain averaging, nothing checked: for comparison only
  // Makes the machine, for experiments with one that misbehaves. Null: an honest one. REQUIRES: the
  // machine is fresh, not null.
  std::function<base::StatusOr<std::unique_ptr<protocol::Machine>>(const MachineMaker& honest,
                                                                   const base::TensorLayout&)>
      machine;
};

// The trainer of this run on this machine. Errors of config::TrainerOptionsOf.
base::StatusOr<train::TrainerOptions> TrainerOptionsOf(const RunOptions& options);

}  // namespace ostraka::host
