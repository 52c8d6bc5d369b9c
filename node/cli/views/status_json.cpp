#include "node/cli/views/status_json.h"

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "node/cli/views/node_json.h"
#include "node/cli/views/status_sections.h"
#include "node/protocol/rules/lateness.h"

namespace ostraka::cli {

using host::NodeStatus;
using host::RunHistory;
using nlohmann::json;

namespace {

json JsonOf(const host::Figures::Absence& absence) {
  json result = json::object();
  if (absence.since) result["since"] = *absence.since;
  if (!absence.reason.empty()) result["reason"] = absence.reason;
  if (absence.may_return) result["may_return"] = *absence.may_return;
  if (absence.seconds) result["seconds"] = *absence.seconds;
  return result;
}

json RunJson(const StatusRun& run) {
  const protocol::Manifest& manifest = *run.manifest;
  const auto short_of = [](const std::string& name) { return name.substr(0, name.find('@')); };
  return {{"name", manifest.name},
          {"model", short_of(manifest.training.model)},
          {"data", short_of(manifest.training.data)},
          {"unprotected", run.unprotected}};
}

void AddWaits(const NodeStatus& status, json& result) {
  json waits_for = json::array();
  std::map<std::string, std::uint64_t> awaited;
  for (const auto& missing : status.progress.missing) {
    ++awaited[missing.message];
    if (waits_for.size() == kWaitsInStatus) continue;
    const bool linked = host::PathTo(status, missing.peer) == host::Path::kDirect;
    waits_for.push_back(
        {{"peer", missing.peer.Hex()}, {"message", missing.message}, {"linked", linked}});
  }
  const std::size_t more = status.progress.missing.size() - waits_for.size();
  if (more > 0) result["waits_for_more"] = more;
  result["waits_for"] = std::move(waits_for);
  result["awaited"] = awaited;
}

// Means of the steps that this process has taken part in.
json CostsJson(const NodeStatus& status) {
  const auto steps = static_cast<double>(status.timed_steps);
  const auto bytes = [&](std::uint64_t sum) {
    return static_cast<std::uint64_t>(static_cast<double>(sum) / steps);
  };
  const auto seconds = [&](std::int64_t ns) { return static_cast<double>(ns) * 1e-9 / steps; };
  const auto& total = status.traffic.total;
  return {{"sent_bytes", bytes(total.control_sent + total.payload_sent)},
          {"received_bytes", bytes(total.control_received + total.payload_received)},
          {"written_bytes", bytes(status.process.written_bytes)},
          {"compute_seconds", seconds(status.step_times.compute_ns)},
          {"aggregate_seconds", seconds(status.step_times.aggregate_ns)},
          {"agree_seconds", seconds(status.step_times.agree_ns)}};
}

void AddProgress(const host::Figures& figures, const NodeStatus& status, json& result) {
  result["place"] = host::PlaceName(figures.place);
  result["member"] = figures.member;
  result["members"] = figures.members;
  result["step"] = figures.step;
  result["steps"] = figures.steps;
  result["phase"] = status.progress.phase;
  result["seconds_since_progress"] = status.since_progress.seconds();
  if (figures.step_takes) result["seconds_per_step"] = figures.step_takes->seconds();
  if (status.timed_steps > 0) result["step_costs"] = CostsJson(status);
  if (!status.jobs.computes_on.empty()) result["computes_on"] = status.jobs.computes_on;
  if (figures.left) result["eta_seconds"] = figures.left->seconds();
  if (figures.absence) result["out"] = JsonOf(*figures.absence);
  if (status.late_ms > 0) {
    result["slow"] = {{"used_ms", status.late_ms}, {"allowed_ms", status.late_allowed_ms}};
  }
}

void AddLearning(const host::Figures& figures, const NodeStatus& status, const RunHistory& history,
                 json& result) {
  if (figures.batch) {
    result["batch"] = {{"loss", figures.batch->loss}, {"step", figures.batch->step}};
  }
  if (status.learning.evaluation) {
    result["metric"] = {{"name", status.learning.evaluation->metric},
                        {"value", status.learning.evaluation->value},
                        {"loss", status.learning.evaluation->loss},
                        {"step", status.learning.evaluated_step}};
    if (status.learning.evaluation->sample) {
      result["sample"] = SampleJson(*status.learning.evaluation->sample);
    }
    result["trend"] = host::TrendName(status.learning.trend);
    if (!status.learning.trouble.empty()) result["trouble"] = status.learning.trouble;
  }
  json points = json::array();
  for (const host::CurvePoint& point : history.curve().Points()) {
    points.push_back({point.step, point.loss, point.value});
  }
  result["curve"] = {{"metric", history.metric()}, {"points", std::move(points)}};
}

// The last steps by phase, and the mean time of one by activity.
void AddSteps(const std::deque<host::StepSpan>& spans, json& result) {
  json phases = json::array();
  double compute = 0;
  double aggregate = 0;
  double agree = 0;
  double timed = 0;
  for (const host::StepSpan& span : spans) {
    phases.push_back({{"step", span.step},
                      {"collect", span.collect.seconds()},
                      {"reveal", span.reveal.seconds()},
                      {"prove", span.prove.seconds()},
                      {"settle", span.settle.seconds()},
                      {"slow", span.slow}});
    const protocol::StepTimes& times = span.times;
    if (times.compute_ns + times.aggregate_ns + times.agree_ns == 0) continue;
    compute += static_cast<double>(times.compute_ns) * 1e-9;
    aggregate += static_cast<double>(times.aggregate_ns) * 1e-9;
    agree += static_cast<double>(times.agree_ns) * 1e-9;
    ++timed;
  }
  result["phases"] = std::move(phases);
  if (timed == 0) return;
  result["price"] = {
      {"compute", compute / timed}, {"aggregate", aggregate / timed}, {"agree", agree / timed}};
}

void AddHistory(const StatusRun& run, const NodeStatus& status, const RunHistory& history,
                json& result) {
  result["keys"] = KeysJson(run, status, history);
  if (history.counted_from()) result["samples_from"] = *history.counted_from();
  if (history.block() != nullptr && !run.unprotected) {
    result["late_allowed_ms"] = protocol::AllowanceMs(*history.block(), *run.manifest);
    result["join"] = DoorJson(run, history);
  }
  if (history.root()) {
    result["state_root"] = {{"step", history.root()->step}, {"root", history.root()->root.Hex()}};
  }
  if (!history.unread().empty()) result["unread"] = history.unread();
  result["removals"] = RemovalsJson(status, history);
  const std::size_t earlier = status.removals.size() - result["removals"].size();
  if (earlier > 0) result["removals_earlier"] = earlier;
}

}  // namespace

json NamesJson(const MemberNames::Map& names) {
  json result = json::object();
  for (const auto& [peer, name] : names) result[peer.Hex()] = name;
  return result;
}

MemberNames NamesOf(const json& result) {
  MemberNames::Map names;
  if (!result.contains("names")) return MemberNames(names);
  for (const auto& [id, name] : result.at("names").items()) {
    const auto peer = base::PeerId::FromHexDigits(id);
    if (peer) names.emplace(*peer, name.get<std::string>());
  }
  return MemberNames(std::move(names));
}

json StatusJson(const StatusRun& run, const NodeStatus& status, const RunHistory& history) {
  const host::Health health = host::HealthOf(status);
  const host::Figures figures = host::FiguresOf(status, run.manifest->training.steps);
  json result = {{"running", !status.outcome.has_value()},
                 {"peer", status.self.Hex()},
                 {"run_id", status.run_id.Hex()},
                 {"run", RunJson(run)},
                 {"healthy", health.ok},
                 {"health", health.reason},
                 {"news", NewsJson(status, figures, history)},
                 {"uptime_seconds", status.uptime.seconds()},
                 {"rss_bytes", status.process.rss_bytes},
                 {"counters", CountersJson(status)}};
  if (!run.names.map().empty()) result["names"] = NamesJson(run.names.map());
  AddProgress(figures, status, result);
  AddWaits(status, result);
  AddLearning(figures, status, history, result);
  AddSteps(history.spans(), result);
  AddNetwork(status, result);
  AddHistory(run, status, history, result);
  return result;
}

}  // namespace ostraka::cli
