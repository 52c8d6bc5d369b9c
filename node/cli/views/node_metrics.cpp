// /metrics: Prometheus' text format 0.0.4, from a NodeStatus.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/views/node_answers.h"
#include "node/host/report/figures.h"
#include "node/protocol/lasting/stage.h"

namespace ostraka::cli {
namespace {

using host::Figures;
using host::NodeStatus;

using Labels = std::vector<std::pair<std::string, std::string>>;

// Builds the text. A family is opened by Counter, Gauge or Histogram; its samples follow.
class Exposition {
 public:
  void Open(const std::string& name, const char* type, const char* help) {
    name_ = name;
    text_ += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void Sample(double value, const Labels& labels = {}, const char* suffix = "") {
    text_ += name_ + suffix;
    const char* separator = "{";
    for (const auto& [key, label] : labels) {
      text_ += separator + key + "=\"" + Escaped(label) + "\"";
      separator = ",";
    }
    if (!labels.empty()) text_ += "}";
    text_ += " " + Number(value) + "\n";
  }
  template <typename T>
  void Single(const std::string& name, const char* type, const char* help, T value) {
    Open(name, type, help);
    Sample(static_cast<double>(value));
  }

  static std::string Number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
  std::string Take() { return std::move(text_); }

 private:
  static std::string Escaped(const std::string& label) {
    std::string escaped;
    for (const char c : label) {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c == '\n' ? ' ' : c;
    }
    return escaped;
  }

  std::string name_;
  std::string text_;
};

void AddRun(const NodeStatus& status, const Figures& figures, Exposition& out) {
  out.Open("ostraka_node_info", "gauge", "The node and its run, as labels.");
  out.Sample(1, {{"peer", status.self.Hex()}, {"run", status.run_id.Hex()}});
  out.Single("ostraka_healthy", "gauge", "1 if /healthz answers 200.", HealthOf(status).ok ? 1 : 0);
  out.Single("ostraka_step", "gauge", "Step in progress; after the end, steps done.", figures.step);
  out.Single("ostraka_steps_planned", "gauge", "Steps of the run.", figures.steps);
  out.Single("ostraka_steps_done_total", "counter", "Steps done by this process.",
             status.steps_done);
  out.Open("ostraka_phase", "gauge", "1 for the phase that the node is in.");
  for (std::size_t stage = 0; stage < protocol::kStages; ++stage) {
    const char* phase = protocol::NameOf(static_cast<protocol::Stage>(stage));
    out.Sample(status.progress.phase == phase ? 1 : 0, {{"phase", phase}});
  }
  out.Open("ostraka_place", "gauge", "1 for this node's place in the run.");
  for (std::size_t i = 0; i <= static_cast<std::size_t>(host::Place::kEnded); ++i) {
    const auto place = static_cast<host::Place>(i);
    out.Sample(figures.place == place ? 1 : 0, {{"place", host::PlaceName(place)}});
  }
  if (figures.absence && figures.absence->may_return) {
    out.Single("ostraka_may_return_step", "gauge",
               "This node is out of the run, and may ask to return from this step on.",
               *figures.absence->may_return);
  }
  out.Single("ostraka_seconds_since_progress", "gauge",
             "Time since a seal was decided or a step began or ended.",
             status.since_progress.seconds());
  std::map<std::string, std::uint64_t> awaited;
  for (const auto& missing : status.progress.missing) ++awaited[missing.message];
  out.Open("ostraka_awaited_messages", "gauge",
           "Messages of other members that the node waits for.");
  for (const auto& [message, count] : awaited) {
    out.Sample(static_cast<double>(count), {{"message", message}});
  }
  if (figures.step_takes) {
    out.Single("ostraka_recent_step_seconds", "gauge", "Mean of the last 16 steps of the run.",
               figures.step_takes->seconds());
  }
  if (figures.left) {
    out.Single("ostraka_eta_seconds", "gauge",
               "Estimated time until the last step, at the recent pace.", figures.left->seconds());
  }
  if (figures.batch) {
    out.Single("ostraka_batch_loss", "gauge",
               "The loss on this node's own batch of the step of ostraka_batch_step.",
               figures.batch->loss);
    out.Single("ostraka_batch_step", "gauge", "The last step of which it computed a gradient.",
               figures.batch->step);
  }
  if (status.learning.evaluation) {
    out.Open("ostraka_evaluation", "gauge", "The last evaluation on held-out data.");
    out.Sample(status.learning.evaluation->value, {{"metric", status.learning.evaluation->metric}});
    if (status.learning.evaluation->metric != "loss") {
      out.Sample(status.learning.evaluation->loss, {{"metric", "loss"}});
    }
    out.Single("ostraka_evaluated_step", "gauge", "The step of that evaluation.",
               status.learning.evaluated_step);
    out.Open("ostraka_loss_trend", "gauge",
             "1 for the trend of the loss; any but fine means that training goes badly.");
    using host::Trend;
    for (const Trend trend : {Trend::kFine, Trend::kFlat, Trend::kRising, Trend::kDiverged}) {
      out.Sample(status.learning.trend == trend ? 1 : 0, {{"trend", host::TrendName(trend)}});
    }
  }
}

void AddMembers(const NodeStatus& status, const Figures& figures, Exposition& out) {
  out.Single("ostraka_members", "gauge", "Members of the run by the newest block.",
             figures.members);
  out.Single("ostraka_member", "gauge", "1 if this node is one of them.", figures.member ? 1 : 0);
  if (status.block != nullptr) {
    const host::Outside outside = host::OutsideOf(*status.block);
    out.Open("ostraka_former_members", "gauge", "Keys that are out of the run by that block.");
    out.Sample(static_cast<double>(outside.banned.size()), {{"why", "banned"}});
    out.Sample(static_cast<double>(outside.dropped.size()), {{"why", "dropped"}});
    out.Sample(static_cast<double>(outside.left.size()), {{"why", "left"}});
  }
  out.Open("ostraka_removals_total", "counter",
           "Removals of members that this process saw sealed.");
  for (std::uint8_t kind = 0; kind < wire::kRemovalKindCount; ++kind) {
    const auto removal = static_cast<wire::RemovalKind>(kind);
    out.Sample(static_cast<double>(status.removals_by_kind[kind]),
               {{"kind", wire::RemovalKindName(removal)}});
  }
  out.Open("ostraka_suspicions_total", "counter",
           "Suspicions that this node alone holds against others.");
  for (const auto& [check, count] : status.suspicions) {
    out.Sample(static_cast<double>(count), {{"check", check}});
  }
  out.Open("ostraka_columns_total", "counter", "Columns of the model, by their fate.");
  for (std::uint8_t fate = 0; fate < wire::kColumnFateCount; ++fate) {
    out.Sample(static_cast<double>(status.columns[fate]),
               {{"fate", wire::ColumnFateName(static_cast<wire::ColumnFate>(fate))}});
  }
}

// A family of its own, to be joined with the others by `peer`: a name is in one series, and only
// members that the manifest names have one.
void AddNames(const MemberNames& names, Exposition& out) {
  if (names.map().empty()) return;
  out.Open("ostraka_peer_info", "gauge", "The members' names in the manifest, as labels.");
  for (const auto& [peer, name] : names.map()) {
    out.Sample(1, {{"peer", peer.Short()}, {"name", name}});
  }
}

void AddTimes(const NodeStatus& status, Exposition& out) {
  const host::StepHistogram& steps = status.step_seconds;
  out.Open("ostraka_step_duration_seconds", "histogram", "Duration of steps.");
  for (std::size_t i = 0; i < steps.kBoundsSeconds.size(); ++i) {
    char bound[16];
    std::snprintf(bound, sizeof bound, "%g", steps.kBoundsSeconds[i]);
    out.Sample(static_cast<double>(steps.at_most[i]), {{"le", bound}}, "_bucket");
  }
  out.Sample(static_cast<double>(steps.count), {{"le", "+Inf"}}, "_bucket");
  out.Sample(steps.sum_seconds, {}, "_sum");
  out.Sample(static_cast<double>(steps.count), {}, "_count");
  out.Open("ostraka_step_part_seconds_total", "counter", "Time of steps, by activity.");
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  out.Sample(seconds(status.step_times.compute_ns), {{"part", "compute"}});
  out.Sample(seconds(status.step_times.aggregate_ns), {{"part", "aggregate"}});
  out.Sample(seconds(status.step_times.agree_ns), {{"part", "agree"}});
}

void AddNetwork(const NodeStatus& status, Exposition& out) {
  const net::TransportCounters& traffic = status.traffic;
  const auto both = [&out](std::uint64_t control, std::uint64_t payload) {
    out.Sample(static_cast<double>(control), {{"kind", "control"}});
    out.Sample(static_cast<double>(payload), {{"kind", "payload"}});
  };
  out.Open("ostraka_sent_bytes_total", "counter", "Bytes to all members, before encryption.");
  both(traffic.total.control_sent, traffic.total.payload_sent);
  out.Open("ostraka_received_bytes_total", "counter", "Bytes from all members, after decryption.");
  both(traffic.total.control_received, traffic.total.payload_received);
  out.Open("ostraka_queued_bytes", "gauge", "Bytes that wait to be sent, on all links.");
  both(traffic.queued_control_bytes, traffic.queued_bulk_bytes);
  out.Single("ostraka_carried_dropped_total", "counter",
             "Messages between other members that were not passed on, as too many waited.",
             traffic.total.carried_dropped);
  out.Single("ostraka_linked_members", "gauge", "Members linked.", traffic.links_up);
  out.Single("ostraka_links_total", "counter", "Links made.", traffic.links);
  out.Single("ostraka_connections", "gauge", "Connections of any kind.", traffic.connections_open);
  out.Single("ostraka_half_open_connections", "gauge",
             "Accepted connections that are not yet links.", traffic.half_open);
  out.Single("ostraka_connections_dialed_total", "counter", "Attempts.", traffic.dialed);
  out.Single("ostraka_connections_accepted_total", "counter", "From anyone.", traffic.accepted);
  out.Open("ostraka_connections_refused_total", "counter",
           "Connections closed for a fault of the other side.");
  for (std::size_t i = 0; i < net::kRefusals; ++i) {
    const auto refusal = static_cast<net::Refusal>(i);
    out.Sample(static_cast<double>(traffic.refused_by[i]), {{"reason", net::RefusalName(refusal)}});
  }
  out.Open("ostraka_peer_linked", "gauge", "1 if the member is linked.");
  for (const base::PeerId& peer : status.others) {
    const bool linked = std::binary_search(status.linked.begin(), status.linked.end(), peer);
    out.Sample(linked ? 1 : 0, {{"peer", peer.Short()}});
  }
  out.Open("ostraka_peer_received_bytes_total", "counter", "Bytes from one member.");
  for (const auto& [peer, bytes] : traffic.by_peer) {
    out.Sample(static_cast<double>(bytes.control_received + bytes.payload_received),
               {{"peer", peer.Short()}});
  }
  out.Open("ostraka_peer_sent_bytes_total", "counter", "Bytes to one member.");
  for (const auto& [peer, bytes] : traffic.by_peer) {
    out.Sample(static_cast<double>(bytes.control_sent + bytes.payload_sent),
               {{"peer", peer.Short()}});
  }
}

void AddWork(const NodeStatus& status, Exposition& out) {
  const host::JobPoolStats& jobs = status.jobs;
  out.Open("ostraka_jobs_total", "counter", "Jobs done.");
  out.Sample(static_cast<double>(jobs.compute_jobs), {{"kind", "compute"}});
  out.Sample(static_cast<double>(jobs.pure_jobs), {{"kind", "pure"}});
  out.Sample(static_cast<double>(jobs.evaluations), {{"kind", "evaluation"}});
  out.Open("ostraka_job_seconds_total", "counter", "Time spent in them.");
  out.Sample(jobs.compute_busy.seconds(), {{"kind", "compute"}});
  out.Sample(jobs.pure_busy.seconds(), {{"kind", "pure"}});
  out.Sample(jobs.evaluation_busy.seconds(), {{"kind", "evaluation"}});
  out.Single("ostraka_jobs_waiting", "gauge", "Jobs that wait for a thread.", jobs.waiting);
  const store::LedgerStats& ledger = status.ledger;
  out.Single("ostraka_ledger_stores_total", "counter", "Records made durable before a signature.",
             ledger.stores);
  out.Single("ostraka_ledger_commits_total", "counter", "Commits to the disk.", ledger.commits);
  out.Single("ostraka_ledger_commit_seconds_total", "counter", "Time spent in them.",
             ledger.commit_time.seconds());
  out.Single("ostraka_ledger_waiting_bytes", "gauge", "Records that wait for the disk.",
             ledger.waiting_bytes);
}

// Uses the names that all Prometheus clients use for these.
void AddProcess(const NodeStatus& status, Exposition& out) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  out.Single("process_start_time_seconds", "gauge", "Start of the node, in Unix time.",
             now.count() - status.uptime.seconds());
  out.Single("process_cpu_seconds_total", "counter", "User and system time.",
             status.process.cpu_seconds);
  out.Single("process_resident_memory_bytes", "gauge", "Resident memory.",
             status.process.rss_bytes);
  out.Single("ostraka_peak_resident_memory_bytes", "gauge", "Peak resident memory.",
             status.process.peak_rss_bytes);
  out.Single("process_open_fds", "gauge", "Open file descriptors.", status.process.open_files);
  out.Single("process_max_fds", "gauge", "Limit of open file descriptors.",
             status.process.max_open_files);
}

}  // namespace

std::string MetricsText(const NodeStatus& status, std::uint64_t steps, const MemberNames& names) {
  Exposition out;
  const Figures figures = host::FiguresOf(status, steps);
  AddRun(status, figures, out);
  AddMembers(status, figures, out);
  AddNames(names, out);
  AddTimes(status, out);
  AddNetwork(status, out);
  AddWork(status, out);
  AddProcess(status, out);
  return out.Take();
}

}  // namespace ostraka::cli
