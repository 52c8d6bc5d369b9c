// The real driver: runs one protocol::Machine over sockets, threads, a disk and a clock.
//
//   protocol thread  the caller of Run: one io_context; machine, timers and transport
//   compute thread   owns the trainer: gradients, recomputations, evaluations   (job_pool.h)
//   job threads      pure functions                                             (job_pool.h)
//   disk thread      SQLite                                                     (ledger.h)
// Jobs and stores go out, and completions come back as posted inputs; nothing else crosses threads.
//
// It keeps the contract of node/protocol/ground/machine.h: inputs are serial, time is monotonic,
// actions are performed in order, and Stored comes only after the records survive a crash. The
// caller provides the machine: an adversary is the honest machine wrapped in an editor (sim/).
//
// How a run ends
// - The machine halts: the driver sends what is queued, evaluates the last state, and Run returns.
//   If the machine finished or was banned, its peers may need its last messages to end well: the
//   driver then waits up to flush_timeout for every member whose link is down, and the machine
//   repeats the messages to it.
// - The disk or the job pool fails: as above without that wait, as kFailed; the machine gets no
//   further input.
// - SIGINT, SIGTERM or Stop(): as above without the evaluation, as kInterrupted. A second signal
//   ends the process at once, because the first restores both default handlers.
//
// The transport forgets a removed member only after `forget_after`, so that the member can still
// learn of its ban.
//
// Thread safety: Stop from any thread; the rest from one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/host/job_pool.h"
#include "node/host/node_events.h"
#include "node/host/node_status.h"
#include "node/http/http_server.h"
#include "node/net/mesh/transport.h"
#include "node/protocol/ground/machine.h"
#include "node/store/ledger.h"
#include "node/train/trainer.h"

namespace ostraka::host {

struct NodeOptions {
  std::unique_ptr<protocol::Machine> machine;  // REQUIRES: fresh, not null
  std::shared_ptr<train::Trainer> trainer;     // REQUIRES: not null
  std::unique_ptr<store::Ledger> ledger;       // REQUIRES: open, not started
  base::Digest coin_seed;                      // crypto::CoinSeed of the node's key and run
  // The ledger's records of this key in the run; null if the key is new.
  std::shared_ptr<const protocol::Restored> restored;
  net::TransportOptions transport;
  JobPoolOptions jobs;
  std::uint64_t evaluate_every = 0;  // steps; 0: only at the end
  // Called with every new state, on Run's thread; must return quickly. May be null.
  std::function<void(const protocol::StepDone&)> on_state;
  base::Duration flush_timeout = base::Seconds(5);  // for everything sent at the end
  base::Duration forget_after = base::Seconds(10);  // from a member's removal
  // Appends every received frame to this file, each after its length (u32, little-endian), for
  // audits from outside. Empty: no file.
  std::string record_file = {};
  bool handle_signals = true;  // false: the caller owns SIGINT, SIGTERM
  // Where the status is served from Make until Run returns, and the handler of a path.
  std::vector<http::HttpPlace> http;
  std::function<http::HttpResponse(std::string_view path, const NodeStatus& status)> http_answer;
};

class NodeDriver {
 public:
  // Binds the ports, so that a port in use is reported here. Starts no thread and sends nothing.
  // Transport::Make's and HttpServer::Make's errors. REQUIRES: `events` outlives the driver.
  static base::StatusOr<std::unique_ptr<NodeDriver>> Make(NodeOptions options, NodeEvents& events);
  ~NodeDriver();

  // The port it listens on; 0 if it only dials.
  std::uint16_t port() const;
  // The port of the last of NodeOptions::http that has a port; 0 if none has.
  std::uint16_t http_port() const;

  // Runs the node to its end on the calling thread. When it returns, every thread has ended and the
  // ledger is closed. REQUIRES: called once.
  NodeReport Run();

  // Ends Run soon, as Ctrl-C does; also a Run that has not begun.
  void Stop();

 private:
  class Impl;
  explicit NodeDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::host
