#include "node/cli/views/node_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/cli/terminal/exit_code.h"
#include "node/cli/views/node_json.h"
#include "node/host/report/figures.h"

namespace ostraka::cli {

using host::NodeStatus;
using nlohmann::json;

namespace {

bool IsLinked(const NodeStatus& status, const base::PeerId& peer) {
  return std::find(status.linked.begin(), status.linked.end(), peer) != status.linked.end();
}

// Each member in the run: how its messages come, what it declares of itself, and where it may be
// dialed.
json PeersJson(const NodeStatus& status) {
  json peers = json::array();
  for (const base::PeerId& peer : status.others) {
    json entry = {{"peer", peer.Hex()},
                  {"reachable", !status.only_dial.contains(peer)},
                  {"addresses", json::array()}};
    const host::Path path = host::PathTo(status, peer);
    if (path != host::Path::kNone) entry["path"] = host::PathName(path);
    const auto known = status.addresses.find(peer);
    if (known != status.addresses.end()) {
      for (const net::PeerAddress& address : known->second) {
        entry["addresses"].push_back({{"address", address.text},
                                      {"source", net::AddressSourceName(address.source)},
                                      {"failures", address.failures},
                                      {"last_failure", address.last_failure}});
      }
    }
    peers.push_back(std::move(entry));
  }
  return peers;
}

json EndpointsJson(const std::vector<dht::Endpoint>& endpoints) {
  json texts = json::array();
  for (const dht::Endpoint& endpoint : endpoints) texts.push_back(dht::TextOf(endpoint));
  return texts;
}

json DhtJson(const net::ReachStatus& reach) {
  json result = {{"mode", net::DhtModeName(reach.mode)}};
  if (reach.mode == net::DhtMode::kOff) return result;
  result["joined"] = reach.progress.joined;
  result["nodes"] = reach.progress.nodes;
  result["records"] = reach.progress.records;
  result["reachable"] = reach.progress.server;
  result["seen_as"] = EndpointsJson(reach.progress.seen);
  result["announced"] = EndpointsJson(reach.announced);
  if (!reach.problem.empty()) result["problem"] = reach.problem;
  return result;
}

json DialBackJson(const net::DialBackStatus& status, bool only_dials) {
  json result = {{"on", status.on}, {"results", json::array()}};
  if (status.port != 0) result["port"] = status.port;
  for (const net::DialedBack& found : net::MostTelling(status, kDialsInStatus)) {
    json entry = {{"peer", found.peer.Hex()},
                  {"from", found.from},
                  {"outcome", net::DialOutcomeName(found.outcome)},
                  {"text", net::TextOf(found)},
                  {"seconds_ago", found.age.seconds()}};
    if (dht::IsUsable(found.where)) entry["address"] = dht::TextOf(found.where);
    result["results"].push_back(std::move(entry));
  }
  const std::string advice = net::DialBackAdvice(status, only_dials);
  if (!advice.empty()) result["advice"] = advice;
  return result;
}

json RouterJson(const net::RouterPortStatus& router) {
  json result = json::object();
  if (router.outside) result["outside"] = dht::TextOf(*router.outside);
  if (!router.problem.empty()) result["problem"] = router.problem;
  return result;
}

json JsonOf(const host::Figures::Absence& absence) {
  json result = json::object();
  if (absence.since) result["since"] = *absence.since;
  if (!absence.reason.empty()) result["reason"] = absence.reason;
  if (absence.may_return) result["may_return"] = *absence.may_return;
  if (absence.seconds) result["seconds"] = *absence.seconds;
  return result;
}

json DoorJson(const host::DoorReport& door) {
  json result = {{"policy", protocol::JoinPolicyName(door.policy)},
                 {"seats", door.seats},
                 {"members", door.members},
                 {"kept", door.kept},
                 {"bears", door.bears},
                 {"moderators", json::array()},
                 {"asking", json::array()},
                 {"vouched", json::object()}};
  for (const host::DoorReport::Moderator& moderator : door.moderators) {
    result["moderators"].push_back({{"peer", moderator.peer.Hex()},
                                    {"admitted", moderator.admitted},
                                    {"quota", moderator.quota},
                                    {"revoked", moderator.revoked}});
  }
  for (const host::DoorReport::Asking& asking : door.asking) {
    if (result["asking"].size() == kAskingInStatus) break;
    json entry = {
        {"peer", asking.peer.Hex()}, {"blocks", asking.blocks}, {"needed", asking.needed}};
    if (asking.moderator) entry["moderator"] = asking.moderator->Hex();
    result["asking"].push_back(std::move(entry));
  }
  for (const auto& [peer, moderator] : door.vouched) {
    result["vouched"][peer.Hex()] = moderator.Hex();
  }
  const std::size_t more = door.asking.size() - result["asking"].size();
  if (more > 0) result["asking_more"] = more;
  return result;
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

json StatusJson(const NodeStatus& status, std::uint64_t steps, const MemberNames& names,
                const std::optional<host::DoorReport>& door) {
  const host::Health health = host::HealthOf(status);
  const host::Figures figures = host::FiguresOf(status, steps);
  json waits_for = json::array();
  for (const auto& missing : status.progress.missing) {
    if (waits_for.size() == kWaitsInStatus) break;
    waits_for.push_back({{"peer", missing.peer.Hex()},
                         {"message", missing.message},
                         {"linked", IsLinked(status, missing.peer)}});
  }
  json unlinked = json::array();
  for (const base::PeerId& peer : status.others) {
    if (!IsLinked(status, peer)) unlinked.push_back(peer.Hex());
  }
  const std::size_t earlier =
      status.removals.size() - std::min(status.removals.size(), kRemovalsInStatus);
  json removals = json::array();
  for (std::size_t i = earlier; i < status.removals.size(); ++i) {
    removals.push_back(JsonOf(status.removals[i]));
  }
  json result = {
      {"running", !status.outcome.has_value()},
      {"peer", status.self.Hex()},
      {"run_id", status.run_id.Hex()},
      {"healthy", health.ok},
      {"health", health.reason},
      {"place", host::PlaceName(figures.place)},
      {"member", figures.member},
      {"step", figures.step},
      {"steps", steps},
      {"phase", status.progress.phase},
      {"waits_for", std::move(waits_for)},
      {"seconds_since_progress", status.since_progress.seconds()},
      {"members", figures.members},
      {"linked", status.linked.size()},
      {"unlinked", std::move(unlinked)},
      {"reachable", !status.only_dial.contains(status.self)},
      {"peers", PeersJson(status)},
      {"dht", DhtJson(status.reach)},
      {"dial_back", DialBackJson(status.reach.dial_back, status.only_dial.contains(status.self))},
      {"removals", std::move(removals)},
      {"uptime_seconds", status.uptime.seconds()},
      {"rss_bytes", status.process.rss_bytes}};
  for (const auto& [peer, reason] : status.traffic.of_another) {
    result["of_another_run"].push_back({{"peer", peer.Hex()}, {"reason", reason}});
  }
  if (door) result["join"] = DoorJson(*door);
  if (!status.reach_warning.empty()) result["reach_warning"] = status.reach_warning;
  if (earlier > 0) result["removals_earlier"] = earlier;
  if (status.reach.router.asked) result["port_mapping"] = RouterJson(status.reach.router);
  const std::size_t more = status.progress.missing.size() - result["waits_for"].size();
  if (more > 0) result["waits_for_more"] = more;
  if (!names.map().empty()) result["names"] = NamesJson(names.map());
  if (status.late_ms > 0) {
    result["slow"] = {{"used_ms", status.late_ms}, {"allowed_ms", status.late_allowed_ms}};
  }
  if (figures.step_takes) result["seconds_per_step"] = figures.step_takes->seconds();
  if (figures.left) result["eta_seconds"] = figures.left->seconds();
  if (figures.absence) result["out"] = JsonOf(*figures.absence);
  if (figures.batch) {
    result["batch"] = {{"loss", figures.batch->loss}, {"step", figures.batch->step}};
  }
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
                              const MemberNames& names,
                              const std::optional<host::DoorReport>& door) {
  http::HttpResponse response;
  if (path == "/metrics") {
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = MetricsText(status, steps, names);
  } else if (path == "/status") {
    response.content_type = "application/json";
    const json answer = StatusJson(status, steps, names, door);
    response.body = answer.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
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
