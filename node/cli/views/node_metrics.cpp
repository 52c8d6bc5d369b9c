// /metrics: Prometheus' text format 0.0.4, from the status.
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/cli/views/json_reading.h"
#include "node/cli/views/node_answers.h"
#include "node/host/report/figures.h"
#include "node/protocol/lasting/stage.h"

namespace ostraka::cli {

using nlohmann::json;

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Builds the text. A family is opened; its samples follow.
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
  std::string Take() { return std::move(text_); }

 private:
  static std::string Number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
  }
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

constexpr const char* kGauge = "gauge";
constexpr const char* kCounter = "counter";

// One number of the status, or with a label one for each key of an object. Where the status has
// none, there is no family.
struct Family {
  const char* name;
  const char* type;
  const char* help;
  const char* at;  // a JSON pointer
  const char* label = nullptr;
};

constexpr Family kOfTheRun[] = {
    {"ostraka_healthy", kGauge, "1 if /healthz answers 200.", "/healthy"},
    {"ostraka_step", kGauge, "Step in progress; after the end, steps done.", "/step"},
    {"ostraka_steps_planned", kGauge, "Steps of the run.", "/steps"},
    {"ostraka_steps_done_total", kCounter, "Steps done by this process.", "/counters/steps/done"},
    {"ostraka_may_return_step", kGauge,
     "This node is out of the run, and may ask to return from this step on.", "/out/may_return"},
    {"ostraka_seconds_since_progress", kGauge,
     "Time since a seal was decided or a step began or ended.", "/seconds_since_progress"},
    {"ostraka_awaited_messages", kGauge, "Messages of other members that the node waits for.",
     "/awaited", "message"},
    {"ostraka_recent_step_seconds", kGauge, "Mean of the last 16 steps of the run.",
     "/seconds_per_step"},
    {"ostraka_eta_seconds", kGauge, "Estimated time until the last step, at the recent pace.",
     "/eta_seconds"},
    {"ostraka_batch_loss", kGauge,
     "The loss on this node's own batch of the step of ostraka_batch_step.", "/batch/loss"},
    {"ostraka_batch_step", kGauge, "The last step of which it computed a gradient.", "/batch/step"},
    {"ostraka_evaluated_step", kGauge, "The step of the last evaluation.", "/metric/step"},
    {"ostraka_members", kGauge, "Members of the run by the newest block.", "/members"},
    {"ostraka_member", kGauge, "1 if this node is one of them.", "/member"},
    {"ostraka_former_members", kGauge, "Keys that are out of the run by that block.",
     "/counters/former_members", "why"},
    {"ostraka_removals_total", kCounter, "Removals of members that this process saw sealed.",
     "/counters/removals", "kind"},
    {"ostraka_suspicions_total", kCounter, "Suspicions that this node alone holds against others.",
     "/counters/suspicions", "check"},
    {"ostraka_columns_total", kCounter, "Columns of the model, by their fate.", "/counters/columns",
     "fate"},
    {"ostraka_step_part_seconds_total", kCounter, "Time of steps, by activity.",
     "/counters/steps/part_seconds", "part"},
};

constexpr Family kOfTheNode[] = {
    {"ostraka_sent_bytes_total", kCounter, "Bytes to all members, before encryption.",
     "/counters/traffic/sent_bytes", "kind"},
    {"ostraka_received_bytes_total", kCounter, "Bytes from all members, after decryption.",
     "/counters/traffic/received_bytes", "kind"},
    {"ostraka_queued_bytes", kGauge, "Bytes that wait to be sent, on all links.",
     "/counters/traffic/queued_bytes", "kind"},
    {"ostraka_carried_dropped_total", kCounter,
     "Messages between other members that were not passed on, as too many waited.",
     "/counters/traffic/carried_dropped"},
    {"ostraka_linked_members", kGauge, "Members linked.", "/counters/traffic/links_up"},
    {"ostraka_links_total", kCounter, "Links made.", "/counters/traffic/links"},
    {"ostraka_connections", kGauge, "Connections of any kind.",
     "/counters/traffic/connections_open"},
    {"ostraka_half_open_connections", kGauge, "Accepted connections that are not yet links.",
     "/counters/traffic/half_open"},
    {"ostraka_connections_dialed_total", kCounter, "Attempts.", "/counters/traffic/dialed"},
    {"ostraka_connections_accepted_total", kCounter, "From anyone.", "/counters/traffic/accepted"},
    {"ostraka_connections_refused_total", kCounter,
     "Connections closed for a fault of the other side.", "/counters/traffic/refused", "reason"},
    {"ostraka_jobs_total", kCounter, "Jobs done.", "/counters/work/jobs", "kind"},
    {"ostraka_job_seconds_total", kCounter, "Time spent in them.", "/counters/work/job_seconds",
     "kind"},
    {"ostraka_jobs_waiting", kGauge, "Jobs that wait for a thread.", "/counters/work/jobs_waiting"},
    {"ostraka_ledger_stores_total", kCounter, "Records made durable before a signature.",
     "/counters/work/stores"},
    {"ostraka_ledger_commits_total", kCounter, "Commits to the disk.", "/counters/work/commits"},
    {"ostraka_ledger_commit_seconds_total", kCounter, "Time spent in them.",
     "/counters/work/commit_seconds"},
    {"ostraka_ledger_waiting_bytes", kGauge, "Records that wait for the disk.",
     "/counters/work/stores_waiting_bytes"},
    // The names that all Prometheus clients use for these.
    {"process_cpu_seconds_total", kCounter, "User and system time.",
     "/counters/process/cpu_seconds"},
    {"process_resident_memory_bytes", kGauge, "Resident memory.", "/rss_bytes"},
    {"ostraka_peak_resident_memory_bytes", kGauge, "Peak resident memory.",
     "/counters/process/peak_rss_bytes"},
    {"ostraka_written_bytes_total", kCounter, "Bytes written to disks.",
     "/counters/process/written_bytes"},
    {"process_open_fds", kGauge, "Open file descriptors.", "/counters/process/open_files"},
    {"process_max_fds", kGauge, "Limit of open file descriptors.",
     "/counters/process/max_open_files"},
};

double ValueOf(const json& value) {
  return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : NumberOf(value);
}

template <std::size_t N>
void AddFamilies(const Family (&families)[N], const json& status, Exposition& out) {
  for (const Family& family : families) {
    const json::json_pointer at(family.at);
    if (!status.contains(at)) continue;
    out.Open(family.name, family.type, family.help);
    if (family.label == nullptr) {
      out.Sample(ValueOf(status.at(at)));
      continue;
    }
    for (const auto& [key, value] : status.at(at).items()) {
      out.Sample(ValueOf(value), {{family.label, key}});
    }
  }
}

// 1 for the name that the status has.
void AddChoice(const char* name, const char* help, const char* label, const json& is,
               const std::vector<std::string>& names, Exposition& out) {
  out.Open(name, kGauge, help);
  for (const std::string& each : names) out.Sample(is == each ? 1 : 0, {{label, each}});
}

void AddChoices(const json& status, Exposition& out) {
  std::vector<std::string> phases;
  for (std::size_t stage = 0; stage < protocol::kStages; ++stage) {
    phases.push_back(protocol::NameOf(static_cast<protocol::Stage>(stage)));
  }
  AddChoice("ostraka_phase", "1 for the phase that the node is in.", "phase", status.at("phase"),
            phases, out);
  std::vector<std::string> places;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(host::Place::kEnded); ++i) {
    places.push_back(host::PlaceName(static_cast<host::Place>(i)));
  }
  AddChoice("ostraka_place", "1 for this node's place in the run.", "place", status.at("place"),
            places, out);
  if (!status.contains("trend")) return;
  using host::Trend;
  std::vector<std::string> trends;
  for (const Trend trend : {Trend::kFine, Trend::kFlat, Trend::kRising, Trend::kDiverged}) {
    trends.push_back(host::TrendName(trend));
  }
  AddChoice("ostraka_loss_trend",
            "1 for the trend of the loss; any but fine means that training goes badly.", "trend",
            status.at("trend"), trends, out);
}

void AddEvaluation(const json& status, Exposition& out) {
  if (!status.contains("metric")) return;
  const json& metric = status.at("metric");
  out.Open("ostraka_evaluation", kGauge, "The last evaluation on held-out data.");
  out.Sample(NumberAt(metric, "value"), {{"metric", TextAt(metric, "name")}});
  if (metric.at("name") != "loss") out.Sample(NumberAt(metric, "loss"), {{"metric", "loss"}});
}

void AddHistogram(const json& steps, Exposition& out) {
  out.Open("ostraka_step_duration_seconds", "histogram", "Duration of steps.");
  for (const json& bucket : steps.at("at_most")) {
    char bound[16];
    std::snprintf(bound, sizeof bound, "%g", bucket.at(0).get<double>());
    out.Sample(ValueOf(bucket.at(1)), {{"le", bound}}, "_bucket");
  }
  const double count = NumberAt(steps, "count");
  out.Sample(count, {{"le", "+Inf"}}, "_bucket");
  out.Sample(NumberAt(steps, "seconds"), {}, "_sum");
  out.Sample(count, {}, "_count");
}

std::string ShortOf(const std::string& id) { return id.substr(0, 16); }

void AddPeers(const json& status, Exposition& out) {
  // A family of its own, to be joined with the others by `peer`: a name is in one series, and only
  // members that the manifest names have one.
  if (status.contains("names")) {
    out.Open("ostraka_peer_info", kGauge, "The members' names in the manifest, as labels.");
    for (const auto& [peer, name] : status.at("names").items()) {
      out.Sample(1, {{"peer", ShortOf(peer)}, {"name", name.get<std::string>()}});
    }
  }
  out.Open("ostraka_peer_linked", kGauge, "1 if the member is linked.");
  for (const json& peer : status.at("peers")) {
    out.Sample(peer.value("path", "") == host::PathName(host::Path::kDirect) ? 1 : 0,
               {{"peer", ShortOf(TextAt(peer, "peer"))}});
  }
  const auto bytes = [&](const char* name, const char* help, const char* key) {
    out.Open(name, kCounter, help);
    for (const json& each : status.at("keys")) {
      if (!each.contains(key)) continue;
      out.Sample(NumberAt(each, key), {{"peer", ShortOf(TextAt(each, "peer"))}});
    }
  };
  bytes("ostraka_peer_received_bytes_total", "Bytes from one member.", "received_bytes");
  bytes("ostraka_peer_sent_bytes_total", "Bytes to one member.", "sent_bytes");
}

}  // namespace

std::string MetricsText(const json& status) {
  Exposition out;
  out.Open("ostraka_node_info", kGauge, "The node and its run, as labels.");
  out.Sample(1, {{"peer", TextAt(status, "peer")}, {"run", TextAt(status, "run_id")}});
  AddChoices(status, out);
  AddEvaluation(status, out);
  AddFamilies(kOfTheRun, status, out);
  AddHistogram(status.at("counters").at("steps"), out);
  AddPeers(status, out);
  AddFamilies(kOfTheNode, status, out);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  out.Open("process_start_time_seconds", kGauge, "Start of the node, in Unix time.");
  out.Sample(now.count() - NumberAt(status, "uptime_seconds"));
  return out.Take();
}

}  // namespace ostraka::cli
