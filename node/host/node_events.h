// What a running node tells whoever shows it (a table, a log, a parent process), and the report
// that it leaves behind.
//
// Thread safety: all calls come from the thread in NodeDriver::Run, between two inputs of the
// machine: they must return quickly, and must not throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/time.h"
#include "node/host/job_pool.h"
#include "node/net/mesh/transport.h"
#include "node/protocol/ground/observation.h"
#include "node/store/ledger.h"
#include "node/train/trainer.h"
#include "node/wire/block.h"

namespace ostraka::host {

// How a node ended. All but kInterrupted are the machine's (protocol::Halted::Why).
enum class NodeEnd : std::uint8_t {
  kFinished,
  kBanned,
  kStalled,
  kDiverged,
  kFailed,       // also: the disk, the job pool or a library failed
  kForked,       // two decisions of one seal: people must compare ledgers
  kInterrupted,  // a person or the system asked it to stop
};
const char* NodeEndName(
    NodeEnd end);  // finished, banned, stalled, diverged, failed, forked, interrupted

struct NodeOutcome {
  NodeEnd end = NodeEnd::kFailed;
  std::uint64_t step = 0;  // at which it ended
  std::string reason;      // one line: what happened and what to do
};

class NodeEvents {
 public:
  virtual ~NodeEvents() = default;

  // It listens on `port` (0: it only dials) and starts to look for the other members. It tells how
  // it is on `http_port` (0: on none).
  virtual void OnStarted(std::uint16_t port, std::uint16_t http_port) = 0;
  // `up` of `of` other members still in the run are linked.
  virtual void OnLinks(std::size_t up, std::size_t of) = 0;
  // Every block of a step; genesis is no step.
  virtual void OnStepDone(const protocol::StepDone& done) = 0;
  // The three sum to the wall time of the step; the machine takes them from its driver's clock.
  virtual void OnStepTimes(const protocol::StepTimes& times) = 0;
  // Of the state after `step`, on held-out data.
  virtual void OnEvaluation(std::uint64_t step, const train::Evaluation& evaluation) = 0;
  virtual void OnSuspicion(const protocol::Suspicion& suspicion) = 0;
  virtual void OnRemoval(const wire::Removal& removal) = 0;
  // One line for a log: the channel's news, and what went wrong without ending the node.
  virtual void OnNotice(net::NoticeLevel level, const std::string& line) = 0;
  // The last protocol event; evaluations that still run may follow.
  virtual void OnHalted(const NodeOutcome& outcome) = 0;
};

struct NodeReport {
  NodeOutcome outcome;
  std::uint64_t steps_done = 0;                   // those of its store too, genesis not counted
  std::shared_ptr<const wire::Block> last_block;  // null if none was sealed
  protocol::ModelState state;                     // after it; null vectors if none
  std::vector<wire::Removal> removals;            // in the order sealed
  std::optional<train::Evaluation> evaluation;    // the last, of the state after evaluated_step
  std::uint64_t evaluated_step = 0;

  base::Duration wall;             // from Run's begin to the end of the last flush
  protocol::StepTimes step_times;  // summed over `timed_steps` (its `step` is the last)
  std::uint64_t timed_steps = 0;
  net::TransportCounters traffic;
  JobPoolStats jobs;
  store::LedgerStats ledger;
  std::uint64_t peak_rss_bytes = 0;  // of the process
};

}  // namespace ostraka::host
