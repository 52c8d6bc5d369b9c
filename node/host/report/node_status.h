// A snapshot of a running node for people and monitors (`ostraka status`, /metrics, /healthz), and
// the monitor that collects its content.
//
// Thread safety: plain values; a NodeMonitor has one owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/host/report/node_events.h"
#include "node/host/report/removal_log.h"
#include "node/host/report/run_history.h"
#include "node/host/report/trend.h"
#include "node/net/lend/exchange_counts.h"
#include "node/net/reach/reach_status.h"
#include "node/os/process_stats.h"

namespace ostraka::host {

// Durations of steps as a Prometheus histogram: cumulative counts by upper bound.
struct StepHistogram {
  static constexpr std::array<double, 13> kBoundsSeconds = {0.01, 0.03, 0.1, 0.3, 1,   3,   10,
                                                            30,   60,   120, 300, 600, 1800};
  std::array<std::uint64_t, kBoundsSeconds.size()> at_most{};  // steps not longer than the bound
  std::uint64_t count = 0;
  double sum_seconds = 0;

  void Add(double seconds);
};

struct Learning {
  std::optional<train::Evaluation> evaluation;  // the last one
  std::uint64_t evaluated_step = 0;
  std::optional<double> batch_loss;  // on this node's own batch of `batch_step`, before its update
  std::uint64_t batch_step = 0;
  Trend trend = Trend::kFine;  // of the evaluations since the start
  std::string trouble;         // TroubleOf them: what is wrong with training; empty if nothing is
};

struct NodeStatus {
  base::PeerId self;
  // The newest block that this node has; null before the first.
  std::shared_ptr<const wire::Block> block;
  std::string away;  // why this node takes no part for now; empty if it does
  base::Digest run_id;
  base::Duration uptime;
  // Once the run is ending: the outcome is known, and the Stores that must be safe first are safe.
  std::optional<NodeOutcome> outcome;

  protocol::Progress progress;    // the machine's step, what it waits for and from which members
  bool met = false;               // a block was seen, or a step began
  base::Duration since_progress;  // since the last decided seal, step begin or step end
  std::uint64_t steps_done = 0;   // in this process
  // Mean of the last NodeMonitor::kRecentSteps, those that this node only followed included; 0:
  // none yet.
  base::Duration recent_step;
  StepHistogram step_seconds;
  protocol::StepTimes step_times;  // summed over `timed_steps`
  std::uint64_t timed_steps = 0;
  std::array<std::uint64_t, wire::kColumnFateCount> columns{};  // by fate, since the start
  std::map<std::string, std::uint64_t> suspicions;              // by check, since the start
  Learning learning;

  // How long this node has made the others wait, and the limit (protocol::Slow). Both are 0 while
  // at most half of the limit is used.
  std::uint64_t late_ms = 0;
  std::uint64_t late_allowed_ms = 0;

  std::vector<base::PeerId> others;  // members still in the run, without this node
  std::vector<base::PeerId> linked;  // of these
  // Keys that only dial, by the newest block (node/protocol/ground/reach.h), and a line if the
  // others are too few.
  std::set<base::PeerId> only_dial;
  std::string reach_warning;
  // Those of the history (run_history.h), before a restart as well, in the order sealed.
  std::vector<PastRemoval> removals;
  RemovalLog::Counts removals_by_kind{};  // all, since the start

  // Where each of `others` may be reached, in the order of dialing.
  std::map<base::PeerId, std::vector<net::PeerAddress>> addresses;
  net::ReachStatus reach;
  std::optional<net::ExchangeCounts> lending;  // of the data's chunks, where they are fetched
  net::TransportCounters traffic;
  JobPoolStats jobs;
  store::LedgerStats ledger;
  os::ProcessStats process;
};

// How messages reach a member of `others`: over a link, by way of members that both are to be
// linked with (node/protocol/mail/post.h; whether they are linked with it is not known here), or
// not.
enum class Path : std::uint8_t { kNone, kDirect, kForwarded };
Path PathTo(const NodeStatus& status, const base::PeerId& peer);
const char* PathName(Path path);  // as in JSON: none, direct, forwarded

struct Health {
  bool ok = true;
  std::string reason;  // one line, also if ok
};
// Not ok: the node halted without finishing, or waits for others longer than both kPatience and ten
// recent steps. Waiting for members to join at the start is ok, since it may take days. It is not
// ok if all members are linked and the run does not begin, or if a member has another manifest.
inline constexpr base::Duration kPatience = base::Seconds(30);
Health HealthOf(const NodeStatus& status);

// Collects observations for the status. Times are the driver's.
//
// Promises:
//   N1  What it reports of a step comes from the observations of this process: a restored step has
//       no duration. A node that follows the run counts the time between the newest blocks of the
//       run while it is near them: blocks that it catches up on come faster than steps are made.
//   N2  Counts only grow. At most kRecentSteps durations are kept.
//   N3  The time of the last progress is never later than `now`, nor earlier than the start.
// Memory: RemovalLog, and one entry for each name of a check that a suspicion gave.
// What an attacker can do here: it adds suspicions, which count up a number; the names of checks
// are the machine's.
class NodeMonitor {
 public:
  static constexpr std::size_t kRecentSteps = 16;

  explicit NodeMonitor(base::Time start) : start_(start), progressed_(start) {}

  void See(base::Time now, const protocol::Observation& what);
  // Before the run begins, a change of links counts as progress.
  void SeeLinks(base::Time now);
  void SeeReach(const wire::Block& head);
  void SeeBatchLoss(std::uint64_t step, double loss);
  void SeeEvaluation(std::uint64_t step, const train::Evaluation& evaluation);

  // The observed part of the status; the caller fills in the rest.
  NodeStatus StatusAt(base::Time now) const;
  // A block was seen, or a step began.
  bool met() const { return seen_.met; }
  const std::vector<wire::Removal>& removals() const { return removals_.kept(); }

  // N2's bound, N3 as of `now`; also at the end of See.
  void CheckInvariants(base::Time now) const;

 private:
  void On(base::Time now, const protocol::Resumed& seen);
  void On(base::Time now, const protocol::StepStarted& seen);
  void On(base::Time now, const protocol::StepDone& seen);
  void On(base::Time now, const protocol::Suspicion& seen);
  void On(base::Time now, const protocol::StepTimes& seen);
  void On(base::Time now, const protocol::Sealed& seen);
  void On(base::Time now, const protocol::Slow& seen);
  void On(base::Time now, const protocol::Away& seen);
  void On(base::Time now, const protocol::CatchingUp& seen);
  void Took(base::Duration step);
  // Other observations change nothing here.
  template <typename T>
  void On(base::Time, const T&) {}

  const base::Time start_;
  base::Time progressed_;
  std::optional<base::Time> step_began_;
  // The newest height of the run, as a node that follows it closely learned of it.
  struct Head {
    base::Time at;
    std::uint64_t height = 0;
  };
  std::optional<Head> followed_;
  std::deque<base::Duration> recent_;
  RemovalLog removals_;
  NodeStatus seen_;
};

}  // namespace ostraka::host
