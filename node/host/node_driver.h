// The real driver: runs one protocol::Machine over sockets, threads, a disk and a clock.
//
//   protocol thread  Run's: one io_context; owns the machine, its timers and the transport
//   compute thread   owns the trainer: gradients, recomputations, evaluations   (job_pool.h)
//   job threads      pure functions                                             (job_pool.h)
//   disk thread      SQLite                                                     (ledger.h)
// Jobs and stores go out, completions come back as posted inputs; nothing else crosses.
//
// It keeps the contract of node/protocol/ground/machine.h: inputs are serial, time is monotonic,
// actions are performed in order, Stored comes only after the records survive a crash. The machine
// is the caller's: an adversary is the honest machine wrapped in an editor (sim/).
//
// Ends
// - The machine halts: what is queued is sent, the last state is evaluated, Run returns. If it
//   finished or was banned, its peers may need its last messages to end well too: every member
//   whose link is down then is awaited for up to flush_timeout, and the machine says them again.
// - The disk or the job pool fails: without that wait, as kFailed; the machine gets no further
// input.
// - SIGINT, SIGTERM or Stop(): the same without the evaluation, as kInterrupted. A second signal
//   ends the process at once: the first one gives both signals back to the system.
//
// A removed member is forgotten by the transport only after `forget_after`, so that it can still
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
  // What the ledger kept of this key's part in the run; null if it is new.
  std::shared_ptr<const protocol::Restored> restored;
  net::TransportOptions transport;
  JobPoolOptions jobs;
  std::uint64_t evaluate_every = 0;  // steps; 0: only at the end
  // Given every state that Run reaches, on Run's thread: must return quickly. May be null.
  std::function<void(const protocol::StepDone&)> on_state;
  base::Duration flush_timeout = base::Seconds(5);  // for all that is sent at the end
  base::Duration forget_after = base::Seconds(10);  // from a member's removal
  // Appends every frame that comes, each behind its length (u32, little-endian): for audits from
  // outside. Empty: nothing is recorded.
  std::string record_file = {};
  bool handle_signals = true;  // false: the caller owns SIGINT, SIGTERM
  // Where it tells how it is, from Make until Run returns, and the answer to a path.
  std::vector<http::HttpPlace> http;
  std::function<http::HttpResponse(std::string_view path, const NodeStatus& status)> http_answer;
};

class NodeDriver {
 public:
  // Binds the port, so that one that is taken shows here; starts no thread and sends nothing.
  // Transport::Make's and HttpServer::Make's errors. REQUIRES: `events` outlives the driver.
  static base::StatusOr<std::unique_ptr<NodeDriver>> Make(NodeOptions options, NodeEvents& events);
  ~NodeDriver();

  // The port it listens on; 0 if it only dials.
  std::uint16_t port() const;
  // The port of the last of NodeOptions::http that has one; 0 if none has.
  std::uint16_t http_port() const;

  // Runs the node to its end on the calling thread. Every thread has ended, and the ledger is
  // closed, when it returns. REQUIRES: called once.
  NodeReport Run();

  // Ends Run soon, as Ctrl-C does; one that has not begun yet too.
  void Stop();

 private:
  class Impl;
  explicit NodeDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::host
