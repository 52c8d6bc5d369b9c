// Everything that a run tells people: events as they happen, the status and the history at any
// time, the report at the end. The driver hands in what it sees; nothing flows back from here.
//
// Promises:
//   R1  Every observation reaches the monitor and the history, and its event or its line in the log
//       if it has one.
//   R2  OnHalted is called once, and only OnEvaluation, OnNotice and OnCheckpointFailed after it
//       (CHECKed).
//   R3  The report's last state is that of the last block seen. Its `steps_done` is 0 exactly if
//       that is none, or the genesis block.
//
// May not know: the machine, sockets, threads, the disk.
// Memory: what NodeMonitor and RunHistory hold, and references to a block and a state.
// What an attacker can do here: as node_status.h, run_history.h and observation_lines.h say.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "node/host/report/node_events.h"
#include "node/host/report/node_status.h"
#include "node/host/report/observation_lines.h"
#include "node/host/report/run_history.h"
#include "node/host/report/waiting.h"

namespace ostraka::host {

class Reporter {
 public:
  // REQUIRES: `events` outlives the reporter.
  // `history`: what was before this process (recall.h).
  Reporter(NodeEvents& events, base::Time start, RunHistory history = {})
      : events_(events), monitor_(start), history_(std::move(history)) {}

  void Started(std::uint16_t port, std::uint16_t http_port, std::size_t members);
  void See(base::Time now, const protocol::Observation& what);
  // Who can be dialed, by the newest block; a line if they are too few, and another one when more
  // than its numbers changes.
  void Reach(const wire::Block& head);
  void Stored(const protocol::Record& record) { history_.SeeStored(record); }
  // `removal` is in the block of the last StepDone.
  void Removed(const wire::Removal& removal);
  void Links(std::size_t up, std::size_t of);
  // About once a second, with the status at that moment: tells whether the run stands still.
  void Look(const NodeStatus& now);
  // A link that counts went up or down.
  void LinkChanged(base::Time now) { monitor_.SeeLinks(now); }
  void BatchLoss(std::uint64_t step, double loss);
  void Evaluated(std::uint64_t step, const base::StatusOr<train::Evaluation>& result);
  void Notice(net::NoticeLevel level, const std::string& line) { events_.OnNotice(level, line); }
  // What people should change, empty if nothing: a line when it begins, and none while it lasts.
  void Advise(const std::string& advice);
  void CheckpointFailed(const base::Status& why);
  // Does nothing after the first call: an outcome may still change for the worse.
  void Halted(const NodeOutcome& outcome);

  // A block came or this node's place changed since the last Progress.
  bool HasProgress() const { return progressed_; }
  // `now`: BriefAt this moment, with the caller's part of it.
  void Progress(const NodeStatus& now);

  // The observed part of the status; the caller fills in the rest.
  NodeStatus StatusAt(base::Time now) const;
  // Without what takes as long as the history is: removals, and the trend.
  NodeStatus BriefAt(base::Time now) const;
  const RunHistory& history() const { return history_; }
  std::uint64_t step() const { return step_; }  // the step in progress, or the last one done
  bool met() const { return monitor_.met(); }   // a block was sealed or a step began
  // The observed part of the report but for the removals and the trend.
  const NodeReport& report() const { return report_; }
  // With both; the caller fills in what is not observed.
  NodeReport Report() const;

  // R3.
  void CheckInvariants() const;

 private:
  void On(const protocol::StepStarted& seen) { step_ = seen.step; }
  void On(const protocol::Resumed& seen);
  void On(const protocol::StepDone& seen);
  void On(const protocol::Suspicion& seen) { events_.OnSuspicion(seen); }
  void On(const protocol::StepTimes& seen);
  void On(const protocol::Away& /*seen*/) { progressed_ = true; }
  void On(const protocol::Barred& /*seen*/) { progressed_ = true; }
  void On(const protocol::Back& /*seen*/) { progressed_ = true; }
  // Tells that a wait is over, if it was told.
  void EndWait();
  // Other observations cause no event here; some cause a log line.
  template <typename T>
  void On(const T&) {}

  NodeEvents& events_;
  NodeMonitor monitor_;
  std::string reach_warning_;  // as told, without its numbers; empty: there was none
  bool advised_ = false;
  bool progressed_ = false;
  RunHistory history_;
  ObservationLines lines_;
  WaitLog waits_;
  NodeReport report_;
  std::uint64_t step_ = 0;
  bool halted_ = false;
};

}  // namespace ostraka::host
