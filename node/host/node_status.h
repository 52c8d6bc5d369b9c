// A moment of a running node, for people and monitors (`ostraka status`, /metrics, /healthz), and
// what keeps count between two such moments.
//
// Thread safety: plain values; a NodeMonitor has one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/host/node_events.h"
#include "node/os/process_stats.h"

namespace ostraka::host {

// How long steps took, as a Prometheus histogram counts: cumulative by upper bound.
struct StepHistogram {
  static constexpr std::array<double, 13> kBoundsSeconds = {0.01, 0.03, 0.1, 0.3, 1,   3,   10,
                                                            30,   60,   120, 300, 600, 1800};
  std::array<std::uint64_t, kBoundsSeconds.size()> at_most{};  // steps of at most that bound
  std::uint64_t count = 0;
  double sum_seconds = 0;

  void Add(double seconds);
};

struct NodeStatus {
  base::PeerId self;
  base::Digest run_id;
  base::Duration uptime;
  std::optional<NodeOutcome> outcome;  // once it has halted

  protocol::Progress progress;    // its step, what it waits for and from whom
  bool met = false;               // the genesis block is sealed: the members have met
  base::Duration since_progress;  // since a seal was decided or a step began or ended
  std::uint64_t steps_done = 0;   // in this process
  base::Duration recent_step;     // mean of the last NodeMonitor::kRecentSteps; 0: none yet
  StepHistogram step_seconds;
  protocol::StepTimes step_times;  // summed over `timed_steps`
  std::uint64_t timed_steps = 0;
  std::array<std::uint64_t, wire::kColumnFateCount> columns{};  // by fate, since the start
  std::map<std::string, std::uint64_t> suspicions;              // by check, likewise
  std::optional<train::Evaluation> evaluation;                  // the last
  std::uint64_t evaluated_step = 0;

  // What it has let the others wait, and may (protocol::Slow); zeros: no more than half of that.
  std::uint64_t late_ms = 0;
  std::uint64_t late_allowed_ms = 0;

  std::vector<base::PeerId> others;  // members still in the run, without this node
  std::vector<base::PeerId> linked;  // of these
  std::vector<wire::Removal> removals;

  net::TransportCounters traffic;
  JobPoolStats jobs;
  store::LedgerStats ledger;
  os::ProcessStats process;
};

// When a run of `steps` steps will be done if the others are as fast as of late; nullopt before the
// first step is, and after the end.
std::optional<base::Duration> TimeLeft(const NodeStatus& status, std::uint64_t steps);

struct Health {
  bool ok = true;
  std::string reason;  // one line, also if ok
};
// Not ok: it has halted other than by finishing, or waits for the others for longer than
// kPatience and ten recent steps. Waiting for members to come at the start is ok: that may take
// days; that all are there and the run does not begin is not.
inline constexpr base::Duration kPatience = base::Seconds(30);
Health HealthOf(const NodeStatus& status);

// Keeps what observations say. Times are the driver's.
class NodeMonitor {
 public:
  static constexpr std::size_t kRecentSteps = 16;

  explicit NodeMonitor(base::Time start) : start_(start), progressed_(start) {}

  void See(base::Time now, const protocol::Observation& what);
  // Before the run begins, that somebody comes or goes is progress.
  void SeeLinks(base::Time now);
  void SeeEvaluation(std::uint64_t step, const train::Evaluation& evaluation);

  // What it has seen; the rest of the status is the caller's to fill.
  NodeStatus StatusAt(base::Time now) const;

 private:
  void On(base::Time now, const protocol::StepStarted& seen);
  void On(base::Time now, const protocol::StepDone& seen);
  void On(base::Time now, const protocol::Suspicion& seen);
  void On(base::Time now, const protocol::StepTimes& seen);
  void On(base::Time now, const protocol::Sealed& seen);
  void On(base::Time now, const protocol::Slow& seen);
  // Other observations change nothing here.
  template <typename T>
  void On(base::Time, const T&) {}

  const base::Time start_;
  base::Time progressed_;
  std::optional<base::Time> step_began_;
  std::deque<base::Duration> recent_;
  NodeStatus seen_;
};

}  // namespace ostraka::host
