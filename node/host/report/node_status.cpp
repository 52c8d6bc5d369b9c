#include "node/host/report/node_status.h"

#include <algorithm>
#include <variant>

#include "node/base/check.h"
#include "node/protocol/ground/reach.h"
#include "node/wire/messages.h"

namespace ostraka::host {

void StepHistogram::Add(double seconds) {
  for (std::size_t i = 0; i < kBoundsSeconds.size(); ++i) {
    if (seconds <= kBoundsSeconds[i]) ++at_most[i];
  }
  ++count;
  sum_seconds += seconds;
}

namespace {

std::string FirstMissing(const std::vector<protocol::Progress::Missing>& missing) {
  if (missing.empty()) return "its own work";
  std::string first = missing.front().message + " of " + missing.front().peer.Short();
  if (missing.size() > 1) first += " and " + std::to_string(missing.size() - 1) + " more";
  return first;
}

// All members are linked, and have sent this node their opening messages.
bool BeginsByNow(const NodeStatus& status) {
  const auto& missing = status.progress.missing;
  return status.linked.size() == status.others.size() && !missing.empty() &&
         missing.front().message == wire::MessageTypeName(wire::MessageType::kEcho);
}

// "4be8... has a manifest that differs from ours: ..."; empty if no member is of another run.
std::string OfAnother(const NodeStatus& status) {
  const auto& of_another = status.traffic.of_another;
  if (of_another.empty()) return {};
  const auto& [peer, reason] = *of_another.begin();
  std::string text = peer.Short() + " " + reason;
  if (of_another.size() > 1) {
    text += "; and " + std::to_string(of_another.size() - 1) + " more members are of another run";
  }
  return text;
}

}  // namespace

Path PathTo(const NodeStatus& status, const base::PeerId& peer) {
  const auto linked = [&](const base::PeerId& other) {
    return std::find(status.linked.begin(), status.linked.end(), other) != status.linked.end();
  };
  if (linked(peer)) return Path::kDirect;
  if (!status.only_dial.contains(status.self) && !status.only_dial.contains(peer)) {
    return Path::kNone;
  }
  const bool carried =
      std::any_of(status.linked.begin(), status.linked.end(),
                  [&](const base::PeerId& other) { return !status.only_dial.contains(other); });
  return carried ? Path::kForwarded : Path::kNone;
}

const char* PathName(Path path) {
  switch (path) {
    case Path::kNone:
      return "none";
    case Path::kDirect:
      return "direct";
    case Path::kForwarded:
      return "forwarded";
  }
  return "none";
}

Health HealthOf(const NodeStatus& status) {
  if (status.outcome) {
    const bool finished =
        status.outcome->end == NodeEnd::kFinished || status.outcome->end == NodeEnd::kLeft;
    return {finished,
            std::string(NodeEndName(status.outcome->end)) + ": " + status.outcome->reason};
  }
  const std::string of_another = OfAnother(status);
  if (!status.met && !of_another.empty()) return {false, of_another};
  // A newcomer knows nothing of a run that others train before it has a link with one of them.
  if (!status.met && status.progress.phase == "follow") {
    const std::string links = "comes to the run: linked with " +
                              std::to_string(status.linked.size()) + " of " +
                              std::to_string(status.others.size()) + " members that it knows";
    const bool is_alone = status.linked.empty() && status.since_progress > kPatience;
    return {!is_alone, is_alone ? links + "; are they up, and is the link a fresh one?" : links};
  }
  if (!status.met && !BeginsByNow(status)) {
    return {true, "waits for the members to meet: " + std::to_string(status.linked.size()) +
                      " of " + std::to_string(status.others.size()) + " linked"};
  }
  const base::Duration patience = std::max(kPatience, status.recent_step * 10);
  const std::string where =
      "step " + std::to_string(status.progress.step) + ", " + status.progress.phase;
  if (status.since_progress <= patience) return {true, where};
  std::string reason = where + ": no progress for " +
                       std::to_string(status.since_progress.ns / base::Seconds(1).ns) +
                       " s, waits for " + FirstMissing(status.progress.missing);
  if (!of_another.empty()) reason += "; " + of_another;
  if (!status.met) {
    reason +=
        "; if a member lost its data folder at the start, begin another run (ostraka run init)";
  }
  return {false, reason};
}

void NodeMonitor::See(base::Time now, const protocol::Observation& what) {
  std::visit([this, now](const auto& seen) { On(now, seen); }, what);
  CheckInvariants(now);
}

void NodeMonitor::CheckInvariants(base::Time now) const {
  OSTRAKA_CHECK(recent_.size() <= kRecentSteps);
  OSTRAKA_CHECK(seen_.step_seconds.count <= seen_.steps_done);
  OSTRAKA_CHECK(start_ <= progressed_ && progressed_ <= now);
}

void NodeMonitor::SeeBatchLoss(std::uint64_t step, double loss) {
  seen_.learning.batch_loss = loss;
  seen_.learning.batch_step = step;
}

void NodeMonitor::SeeEvaluation(std::uint64_t step, const train::Evaluation& evaluation) {
  seen_.learning.evaluation = evaluation;
  seen_.learning.evaluated_step = step;
}

void NodeMonitor::SeeReach(const wire::Block& head) {
  seen_.only_dial.clear();
  for (const wire::Reach& reach : head.reach) {
    if (reach.only_dials) seen_.only_dial.insert(reach.peer);
  }
  seen_.reach_warning = protocol::ReachWarning(head).value_or("");
}

void NodeMonitor::SeeLinks(base::Time now) {
  if (!seen_.met) progressed_ = now;
}

NodeStatus NodeMonitor::StatusAt(base::Time now) const {
  NodeStatus status = seen_;
  status.uptime = now - start_;
  status.since_progress = now - progressed_;
  status.removals_by_kind = removals_.counts();
  for (const base::Duration took : recent_) status.recent_step = status.recent_step + took;
  if (!recent_.empty()) {
    status.recent_step.ns /= static_cast<std::int64_t>(recent_.size());
  }
  return status;
}

// A node that is started after the end begins no step.
void NodeMonitor::On(base::Time /*now*/, const protocol::Resumed& seen) {
  if (wire::RunIsOver(*seen.block)) seen_.met = true;
}

void NodeMonitor::On(base::Time now, const protocol::StepStarted& /*seen*/) {
  progressed_ = now;
  step_began_ = now;
  followed_.reset();
  seen_.met = true;
}

void NodeMonitor::On(base::Time now, const protocol::Sealed& /*seen*/) { progressed_ = now; }

void NodeMonitor::On(base::Time /*now*/, const protocol::Slow& seen) {
  seen_.late_ms = seen.Lasts() ? seen.used_ms : 0;
  seen_.late_allowed_ms = seen.Lasts() ? seen.allowed_ms : 0;
}

void NodeMonitor::On(base::Time now, const protocol::StepDone& seen) {
  progressed_ = now;
  seen_.met = true;
  const wire::Block& block = *seen.block;
  for (const wire::Removal& removal : block.removals) removals_.Add(removal);
  if (!wire::Trained(block)) {
    step_began_.reset();  // a step without work would make the others look faster
    return;
  }
  ++seen_.steps_done;
  for (const wire::ColumnFate fate : block.columns) {
    ++seen_.columns[static_cast<std::size_t>(fate)];
  }
  if (!step_began_) return;
  const base::Duration took = now - *step_began_;
  step_began_.reset();
  seen_.step_seconds.Add(took.seconds());
  Took(took);
}

void NodeMonitor::Took(base::Duration step) {
  recent_.push_back(step);
  if (recent_.size() > kRecentSteps) recent_.pop_front();
}

// A step that it left does not end with the block of that step.
void NodeMonitor::On(base::Time /*now*/, const protocol::Away& /*seen*/) {
  step_began_.reset();
  followed_.reset();
}

void NodeMonitor::On(base::Time now, const protocol::CatchingUp& seen) {
  constexpr std::uint64_t kNear = 4;  // blocks: of quick steps a follower always lacks some
  if (seen.height + kNear < seen.head) return followed_.reset();
  if (followed_ && seen.head <= followed_->height) return;
  if (followed_) {
    const std::uint64_t steps = seen.head - followed_->height;
    const base::Duration each{(now - followed_->at).ns / static_cast<std::int64_t>(steps)};
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(steps, kRecentSteps); ++i) Took(each);
  }
  followed_ = Head{now, seen.head};
}

void NodeMonitor::On(base::Time /*now*/, const protocol::Suspicion& seen) {
  ++seen_.suspicions[seen.check];
}

void NodeMonitor::On(base::Time /*now*/, const protocol::StepTimes& seen) {
  seen_.step_times.step = seen.step;
  seen_.step_times.compute_ns += seen.compute_ns;
  seen_.step_times.aggregate_ns += seen.aggregate_ns;
  seen_.step_times.agree_ns += seen.agree_ns;
  ++seen_.timed_steps;
}

}  // namespace ostraka::host
