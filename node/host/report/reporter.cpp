#include "node/host/report/reporter.h"

#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/host/report/figures.h"
#include "node/protocol/ground/reach.h"

namespace ostraka::host {
namespace {

std::string WithoutNumbers(std::string line) {
  std::erase_if(line, [](char c) { return '0' <= c && c <= '9'; });
  return line;
}

}  // namespace

void Reporter::Started(std::uint16_t port, std::uint16_t http_port, std::size_t members) {
  events_.OnStarted(port, http_port);
  events_.OnLinks(0, members);
  if (!history_.unread().empty()) {
    events_.OnNotice(net::NoticeLevel::kWarning,
                     "the page begins anew: what the ledger had kept for it cannot be read: " +
                         history_.unread());
  }
}

void Reporter::See(base::Time now, const protocol::Observation& what) {
  OSTRAKA_CHECK(!halted_);  // R2
  monitor_.See(now, what);
  history_.See(now, what);
  // Before what follows from the block, so that the lines stand in the order of steps.
  if (std::holds_alternative<protocol::StepDone>(what)) EndWait();
  if (const auto said = lines_.Of(now, what)) events_.OnNotice(said->level, said->line);
  std::visit([this](const auto& seen) { On(seen); }, what);
  CheckInvariants();
}

void Reporter::Reach(const wire::Block& head) {
  monitor_.SeeReach(head);
  const auto warning = protocol::ReachWarning(head);
  // Numbers change with each member that comes or goes.
  const std::string kind = warning ? WithoutNumbers(*warning) : "";
  if (warning && kind != reach_warning_) {
    events_.OnNotice(net::NoticeLevel::kWarning, *warning);
  }
  reach_warning_ = kind;
}

void Reporter::Advise(const std::string& advice) {
  if (!advice.empty() && !advised_) events_.OnNotice(net::NoticeLevel::kWarning, advice);
  advised_ = !advice.empty();
}

void Reporter::CheckInvariants() const {
  OSTRAKA_CHECK((report_.steps_done == 0) ==
                (report_.last_block == nullptr || report_.last_block->genesis));
}

// A restored run may already be complete; report its result all the same.
void Reporter::On(const protocol::Resumed& seen) {
  report_.last_block = seen.block;
  report_.state = seen.state;
  Reach(*seen.block);
  report_.steps_done = wire::TrainedSteps(*seen.block);
}

void Reporter::On(const protocol::StepDone& seen) {
  report_.last_block = seen.block;
  report_.state = seen.state;
  Reach(*seen.block);
  if (seen.block->genesis) return;
  step_ = seen.block->step;
  // A member that follows may have skipped some.
  report_.steps_done = wire::TrainedSteps(*seen.block);
  events_.OnStepDone(seen);
  progressed_ = true;
}

void Reporter::On(const protocol::StepTimes& seen) {
  report_.step_times.step = seen.step;
  report_.step_times.compute_ns += seen.compute_ns;
  report_.step_times.aggregate_ns += seen.aggregate_ns;
  report_.step_times.agree_ns += seen.agree_ns;
  ++report_.timed_steps;
  events_.OnStepTimes(seen);
}

void Reporter::Removed(const wire::Removal& removal) {
  OSTRAKA_CHECK(!halted_);  // R2
  events_.OnRemoval(removal);
}

NodeReport Reporter::Report() const {
  NodeReport report = report_;
  report.removals = monitor_.removals();
  const std::vector<CurvePoint> points = history_.curve().Points();
  report.trend = TrendOf(points);
  report.trouble = TroubleOf(points);
  return report;
}

NodeStatus Reporter::BriefAt(base::Time now) const {
  NodeStatus status = monitor_.StatusAt(now);
  status.block = history_.block();
  status.away = history_.away();
  return status;
}

NodeStatus Reporter::StatusAt(base::Time now) const {
  NodeStatus status = BriefAt(now);
  status.removals = RemovalsAsOf(history_, status.block.get());
  const std::vector<CurvePoint> points = history_.curve().Points();
  status.learning.trend = TrendOf(points);
  status.learning.trouble = TroubleOf(points);
  return status;
}

void Reporter::Progress(const NodeStatus& now) {
  progressed_ = false;
  if (!halted_) events_.OnProgress(now);
}

void Reporter::Links(std::size_t up, std::size_t of) {
  if (!halted_) events_.OnLinks(up, of);
}

void Reporter::EndWait() {
  if (const auto line = waits_.Of(std::nullopt)) {
    events_.OnNotice(net::NoticeLevel::kInfo, *line);
  }
}

void Reporter::Look(const NodeStatus& now) {
  if (halted_) return;
  const std::optional<Waiting> waiting = WaitingOf(now);
  if (waiting) events_.OnWaiting(*waiting);
  const auto line = waits_.Of(waiting);
  // Waiting for all to start may take days, and is no fault.
  if (line) {
    events_.OnNotice(
        waiting && waiting->begun ? net::NoticeLevel::kWarning : net::NoticeLevel::kInfo, *line);
  }
}

void Reporter::BatchLoss(std::uint64_t step, double loss) {
  monitor_.SeeBatchLoss(step, loss);
  if (!halted_) events_.OnBatchLoss(step, loss);
}

void Reporter::Evaluated(std::uint64_t step, const base::StatusOr<train::Evaluation>& result) {
  if (!result.ok()) {
    return events_.OnNotice(net::NoticeLevel::kWarning,
                            "the state after step " + std::to_string(step) +
                                " could not be evaluated: " + base::MessageOf(result.status()));
  }
  report_.evaluation = *result;
  report_.evaluated_step = step;
  monitor_.SeeEvaluation(step, *result);
  history_.SeeEvaluation(step, *result);
  events_.OnEvaluation(step, *result);
}

void Reporter::CheckpointFailed(const base::Status& why) {
  events_.OnCheckpointFailed(base::Unavailable(
      base::MessageOf(why) +
      ": free some space; a later state is tried again, and the last one at the end"));
}

void Reporter::Halted(const NodeOutcome& outcome) {
  if (!std::exchange(halted_, true)) events_.OnHalted(outcome);
}

}  // namespace ostraka::host
