#include "node/cli/views/node_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {

using host::NodeStatus;
using nlohmann::json;

namespace {

bool IsLinked(const NodeStatus& status, const base::PeerId& peer) {
  return std::find(status.linked.begin(), status.linked.end(), peer) != status.linked.end();
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

json StatusJson(const NodeStatus& status, std::uint64_t steps, const MemberNames& names) {
  const host::Health health = host::HealthOf(status);
  json waits_for = json::array();
  for (const auto& missing : status.progress.missing) {
    waits_for.push_back({{"peer", missing.peer.Hex()},
                         {"message", missing.message},
                         {"linked", IsLinked(status, missing.peer)}});
  }
  json unlinked = json::array();
  for (const base::PeerId& peer : status.others) {
    if (!IsLinked(status, peer)) unlinked.push_back(peer.Hex());
  }
  json removals = json::array();
  for (const wire::Removal& removal : status.removals) removals.push_back(JsonOf(removal));
  json result = {{"running", !status.outcome.has_value()},
                 {"peer", status.self.Hex()},
                 {"run_id", status.run_id.Hex()},
                 {"healthy", health.ok},
                 {"health", health.reason},
                 {"step", status.progress.step},
                 {"steps", steps},
                 {"phase", status.progress.phase},
                 {"waits_for", std::move(waits_for)},
                 {"seconds_since_progress", status.since_progress.seconds()},
                 {"members", status.others.size() + 1},
                 {"linked", status.linked.size()},
                 {"unlinked", std::move(unlinked)},
                 {"removals", std::move(removals)},
                 {"uptime_seconds", status.uptime.seconds()},
                 {"rss_bytes", status.process.rss_bytes}};
  for (const auto& [peer, reason] : status.traffic.of_another) {
    result["of_another_run"].push_back({{"peer", peer.Hex()}, {"reason", reason}});
  }
  if (!names.map().empty()) result["names"] = NamesJson(names.map());
  if (status.late_ms > 0) {
    result["slow"] = {{"used_ms", status.late_ms}, {"allowed_ms", status.late_allowed_ms}};
  }
  if (status.recent_step.ns > 0) result["seconds_per_step"] = status.recent_step.seconds();
  if (const auto left = host::TimeLeft(status, steps)) result["eta_seconds"] = left->seconds();
  if (status.learning.evaluation) {
    result["metric"] = {{"name", status.learning.evaluation->metric},
                        {"value", status.learning.evaluation->value},
                        {"loss", status.learning.evaluation->loss},
                        {"step", status.learning.evaluated_step}};
    result["trend"] = host::TrendName(status.learning.trend);
    if (!status.learning.trouble.empty()) result["trouble"] = status.learning.trouble;
  }
  return result;
}

http::HttpResponse AnswerHttp(std::string_view path, const NodeStatus& status, std::uint64_t steps,
                              const MemberNames& names) {
  http::HttpResponse response;
  if (path == "/metrics") {
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = MetricsText(status, steps, names);
  } else if (path == "/status") {
    response.content_type = "application/json";
    response.body =
        StatusJson(status, steps, names).dump(-1, ' ', false, json::error_handler_t::replace) +
        "\n";
  } else if (path == "/healthz") {
    const host::Health health = host::HealthOf(status);
    response.status = health.ok ? 200 : 503;
    response.body = PrintableLine(names.In(health.reason)) + "\n";
  } else {
    response.status = path == "/" ? 200 : 404;
    response.body = "ostraka node: /status /metrics /healthz\n";
  }
  return response;
}

}  // namespace ostraka::cli
