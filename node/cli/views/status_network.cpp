// Links, addresses, the DHT, and whether others can dial this node.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/cli/views/node_json.h"
#include "node/cli/views/status_sections.h"

namespace ostraka::cli {

using host::NodeStatus;
using nlohmann::json;

namespace {

// Each other key of the run: how its messages come, what it declares of itself, and where it may be
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

}  // namespace

void AddNetwork(const NodeStatus& status, json& result) {
  json unlinked = json::array();
  for (const base::PeerId& peer : status.others) {
    if (host::PathTo(status, peer) != host::Path::kDirect) unlinked.push_back(peer.Hex());
  }
  const bool only_dials = status.only_dial.contains(status.self);
  result["linked"] = status.linked.size();
  result["unlinked"] = std::move(unlinked);
  result["reachable"] = !only_dials;
  result["peers"] = PeersJson(status);
  result["dht"] = DhtJson(status.reach);
  result["dial_back"] = DialBackJson(status.reach.dial_back, only_dials);
  if (status.lending) result["data_chunks"] = JsonOf(*status.lending);
  if (!status.reach_warning.empty()) result["reach_warning"] = status.reach_warning;
  if (status.reach.router.asked) result["port_mapping"] = RouterJson(status.reach.router);
  for (const auto& [peer, reason] : status.traffic.of_another) {
    result["of_another_run"].push_back({{"peer", peer.Hex()}, {"reason", reason}});
  }
}

}  // namespace ostraka::cli
