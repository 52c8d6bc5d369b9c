// The real driver: runs one protocol::Machine over sockets, threads, a disk and a clock. Any number
// of drivers share one io_context. Jobs and stores go out, and completions come back as posted
// inputs; nothing else crosses threads (the table of threads is in node/host/README.md).
//
// It keeps the contract of node/machine/machine.h: inputs are serial, time is monotonic, actions
// are performed in order, and Stored comes only after the records survive a crash. The caller
// provides the machine: an adversary is the honest machine wrapped in an editor (sim/).
//
// Promises:
//   V1  Nothing that a driver does on the protocol thread waits, except in ~NodeDriver, with a
//       recording, and if no closing thread can be made. No exception of its machine or of a
//       library leaves the driver. So a run that fails or ends leaves the others alone. A failed
//       CHECK ends the process, and so does a worker thread without memory to post a result.
//   V2  OnStarted comes first, OnHalted once, and `ended` last and once.
//   V3  When `ended` is called, every thread of the run has ended, and its data folder is free.
//       After an exception in a closing run that is so once ~NodeDriver has returned.
//
// How a run ends (stop_sequence.h has the phases)
// - Leave: the machine says in its COMMITs that it leaves, and halts when a block lets it go.
// - The machine halts: the driver drops the jobs that wait, sends what is queued, for flush_timeout
//   at most, and evaluates the last state, for as long as that takes. If the machine finished or
//   was banned, its peers may need its last messages so that they can finish: the driver then waits
//   up to flush_timeout for every member whose link is down, and the machine repeats the messages
//   to it.
// - The disk or the job pool fails: the run ends as kFailed: it sends what is queued and evaluates
//   the last state, but waits for no member whose link is down. The machine gets no further input.
// - StopSafely: at once where the others need nothing more of it for the block of the step in
//   progress; else with that block, or when it cannot come (pledge.h, stop_wait.h). Until then it
//   is a member as any other, but that it begins nothing: the next COMMIT is not signed.
// - Stop: the run ends as kInterrupted: it sends what is queued, and evaluates nothing. A second
//   Stop, or a Stop while a run ends in another way, ends it at once.
// - An exception: at once, without a flush, as kFailed. The machine is not called again. If the run
//   is closing already, its report has the outcome and nothing else.
// A failure while the run ends makes it kFailed, and its reason is added to an earlier failure's.
//
// The transport forgets a banned member only after `forget_after`, so that the member can still
// learn of its ban, and keeps its place, so that it is refused with that reason for ever. Members
// that were banned before a restart are forgotten at once.
//
// May not know: manifests, models, key files, signals, commands; other runs.
// Memory: what its parts state: transport, ledger queue, waiting jobs, the machine.
// What an attacker can do here: what the machine and the transport let it do. It cannot end the
// process, nor take a turn from another run for longer than one Step of this run's machine takes.
//
// Thread safety: none; the protocol thread, or any one thread while the io_context does not run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/base/time.h"
#include "node/host/driver/member_finder.h"
#include "node/host/report/node_events.h"
#include "node/host/report/run_history.h"
#include "node/host/report/status_service.h"
#include "node/host/report/stop_price.h"
#include "node/host/threads/job_pool.h"
#include "node/net/mesh/transport.h"
#include "node/protocol/ground/machine.h"
#include "node/store/checkpoint_writer.h"
#include "node/store/ledger.h"
#include "node/store/recording_file.h"
#include "node/store/revocation_file.h"
#include "node/train/trainer.h"

namespace ostraka::net {
class ChunkExchange;
}

namespace ostraka::host {

struct NodeOptions {
  std::unique_ptr<protocol::Machine> machine;  // REQUIRES: fresh, not null
  std::shared_ptr<train::Trainer> trainer;     // REQUIRES: not null
  std::unique_ptr<store::Ledger> ledger;       // REQUIRES: open, not started
  // The states that are kept. Nullopt: none. `failed` is replaced (NodeEvents::OnCheckpointFailed).
  std::optional<store::CheckpointWriterOptions> states = std::nullopt;
  base::Digest coin_seed;  // crypto::CoinSeed of the node's key and run
  // Whether the run can let it go after `head`. Empty: it cannot leave.
  std::function<bool(const wire::Block& head)> may_leave = {};
  // The faults that it bears without this node (protocol::BorneWithout). Empty: not known.
  std::function<std::uint32_t(const wire::Block& head)> borne_without = {};
  protocol::Told wishes = {};  // as the machine starts
  // How long the step after `head` waits. Empty: not known, and people are told no price of an end.
  std::function<StepWaits(const wire::Block& head)> waits = {};
  // What it passes on of the moderators' revocations, read anew once a second. Null: nothing.
  std::shared_ptr<store::RevocationFile> revocations = nullptr;
  // The ledger's records of this key in the run; null if the key is new.
  std::shared_ptr<const protocol::Restored> restored;
  RunHistory history = {};  // before this process, for people
  // What the run begins with (protocol::GenesisHead), until a block is seen. Null: nothing is known
  // of who can be dialed.
  std::shared_ptr<const wire::Block> genesis = nullptr;
  net::TransportOptions transport;  // its listen_fd is owned even if Make fails
  FinderOptions finder = {};
  // By which the trainer's rows come from members, and go to them; null: they do not.
  std::shared_ptr<net::ChunkExchange> exchange = nullptr;
  JobPoolOptions jobs;
  std::uint64_t evaluate_every = 0;  // steps; 0: only at the end
  // Limit on sending, and on waiting for members whose link is down, at the end.
  base::Duration flush_timeout = base::Seconds(5);
  base::Duration forget_after = base::Seconds(10);  // from a member's ban
  // Into which the machine is recorded; null: it is not. Here people are told of it.
  std::shared_ptr<store::RecordingFile> recording = nullptr;
  StatusService status;  // from Make until the run closes
};

class NodeDriver {
 public:
  using Ended = std::function<void(NodeReport)>;

  // Binds the ports, so that a port in use is reported here. Sends nothing before Start; the worker
  // threads exist and have no work. Transport::Make's and HttpServer::Make's errors. Unavailable:
  // no thread can be started, or a library threw. REQUIRES: `io` and `events` outlive the driver;
  // one thread runs `io`; http_answer is set if http is not empty.
  static base::StatusOr<std::unique_ptr<NodeDriver>> Make(boost::asio::io_context& io,
                                                          NodeOptions options, NodeEvents& events);
  // Ends everything at once, without OnHalted or `ended`. Blocks for running jobs and the disk
  // unless `ended` was called (V3). REQUIRES: not called from within an event or `ended`.
  ~NodeDriver();

  // The port it listens on; 0 if it only dials.
  std::uint16_t port() const;
  // The port of the last of StatusService::places that has a port; 0 if none has.
  std::uint16_t http_port() const;

  // Starts the machine. The run goes on while `io` runs, until `ended`. REQUIRES: called once;
  // `ended` does not throw (CHECKed).
  void Start(Ended ended);

  // Ends the run soon. `by` completes "stopped by ...". No effect once the run closes. REQUIRES:
  // started; not called from within an event.
  void Stop(const std::string& by);

  // The same once nothing is owed for the step in progress: it costs nobody more than a wait for
  // this node. No effect after the first call, nor once the run ends. `by` and REQUIRES as for
  // Stop.
  void StopSafely(const std::string& by);

  // Leaves the run: it ends as kLeft once the others let this node go, or they all finish. Where
  // there is nothing to leave it stops safely: before the first step, while the node is away, where
  // too few would stay, at the end. A second call stops it at once. `by` as in Stop. REQUIRES: as
  // for Stop.
  void Leave(const std::string& by);

  // Ends the run at once, as kFailed, with `what` as the reason: a library failed outside of any
  // run's functions. REQUIRES: started.
  void Break(const std::string& what);

 private:
  class Impl;
  explicit NodeDriver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ostraka::host
