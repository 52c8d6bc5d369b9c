// The events of a running node for its display (a table, a log, a parent process), and its final
// report.
//
// Thread safety: all calls come from the protocol thread, never while the machine is in Step. They
// must return quickly, because the other runs of the process wait, and must not throw: an exception
// ends the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"
#include "node/base/time.h"
#include "node/host/report/trend.h"
#include "node/host/report/waiting.h"
#include "node/host/threads/job_pool.h"
#include "node/net/lend/exchange_counts.h"
#include "node/net/mesh/transport.h"
#include "node/protocol/ground/observation.h"
#include "node/store/ledger.h"
#include "node/train/trainer.h"
#include "node/wire/block.h"

namespace ostraka::host {

struct NodeStatus;

// How a node ended. kInterrupted comes from people or the system, kFailed from the machine or the
// driver, the others from the machine (protocol::Halted::Why).
enum class NodeEnd : std::uint8_t {
  kFinished,
  kBanned,
  kStalled,
  kDiverged,
  kFailed,       // also: the disk, the job pool or a library failed
  kLeft,         // it left the run, as a person had asked
  kRefused,      // its key may not come into the run: the reason says why
  kForked,       // members decided one seal in two ways: people must compare their ledgers
  kInterrupted,  // stopped by a person or the system
};
const char* NodeEndName(NodeEnd end);  // finished, banned, stalled, diverged, failed, left,
                                       // refused, forked, interrupted

struct NodeOutcome {
  NodeEnd end = NodeEnd::kFailed;
  std::uint64_t step = 0;  // at which it ended
  std::string reason;      // one line: what happened and what to do
};

class NodeEvents {
 public:
  virtual ~NodeEvents() = default;

  // The node listens on `port` (0: it only dials) and begins to look for the other members. It
  // serves its status on `http_port` (0: on no port).
  virtual void OnStarted(std::uint16_t port, std::uint16_t http_port) = 0;
  // `up` of the `of` other members that are not banned have a link.
  virtual void OnLinks(std::size_t up, std::size_t of) = 0;
  // Called for every block except the genesis block.
  virtual void OnStepDone(const protocol::StepDone& done) = 0;
  // The three times sum to the wall time of the step, by the driver's clock.
  virtual void OnStepTimes(const protocol::StepTimes& times) = 0;
  // This node's own batch of `step` had this loss, before the step's update; comes before the
  // step's OnStepDone. Not called where no gradient was computed.
  virtual void OnBatchLoss(std::uint64_t step, double loss) = 0;
  // Result for the state after `step`, on held-out data.
  virtual void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) = 0;
  virtual void OnSuspicion(const protocol::Suspicion& suspicion) = 0;
  virtual void OnRemoval(const wire::Removal& removal) = 0;
  // After each block and each change of this node's place in the run: what figures.h needs.
  virtual void OnProgress(const NodeStatus& now) = 0;
  // The run stands still; about once a second until it goes on.
  virtual void OnWaiting(const Waiting& waiting) = 0;
  // One log line: news of the transport, or a problem that did not end the node.
  virtual void OnNotice(net::NoticeLevel level, const std::string& line) = 0;
  // A state could not be kept on disk. Training goes on; the last state is tried again at the end.
  virtual void OnCheckpointFailed(const base::Status& why) = 0;
  // The last protocol event; results of running evaluations may follow.
  virtual void OnHalted(const NodeOutcome& outcome) = 0;
};

struct NodeReport {
  NodeOutcome outcome;
  std::uint64_t steps_done = 0;  // up to the last block, restored and skipped ones included
  std::shared_ptr<const wire::Block> last_block;  // null if none was sealed
  protocol::ModelState state;                     // after the last step; null vectors if none
  std::vector<wire::Removal> removals;            // in the order sealed (removal_log.h)
  std::optional<train::Evaluation> evaluation;  // the last one, for the state after evaluated_step
  std::uint64_t evaluated_step = 0;
  Trend trend = Trend::kFine;  // of the evaluations since the start
  std::string trouble;         // what is wrong with training, in one line; empty if nothing is
  // The file with the last state. NotFound if no step was done or no states are kept.
  base::StatusOr<std::string> checkpoint = base::NotFound("no states are kept");

  base::Duration wall;             // from Start until the ledger is closed
  protocol::StepTimes step_times;  // summed over `timed_steps` (`step` is the last)
  std::uint64_t timed_steps = 0;
  net::TransportCounters traffic;
  std::optional<net::ExchangeCounts> lending;  // NodeStatus::lending
  JobPoolStats jobs;
  store::LedgerStats ledger;
  std::uint64_t peak_rss_bytes = 0;  // of the process
  base::Duration longest_turn;       // of the protocol thread (MachineSeat::longest_turn)
};

}  // namespace ostraka::host
