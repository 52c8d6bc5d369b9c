// Every key of the run: its state, its work, its lag and its traffic.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "node/cli/views/status_sections.h"
#include "node/host/report/waiting.h"
#include "node/protocol/rules/lateness.h"

namespace ostraka::cli {

using base::PeerId;
using host::NodeStatus;
using host::RunHistory;
using nlohmann::json;

namespace {

bool IsIn(const std::vector<PeerId>& sorted, const PeerId& id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

std::set<PeerId> OnTrial(const wire::Block& block) {
  std::set<PeerId> parties;
  for (const auto& [accuser, target] : protocol::QuarantinedPairs(block)) {
    parties.insert({accuser, target});
  }
  return parties;
}

// Facts about all members that the state of one follows from.
struct Scene {
  const NodeStatus& status;
  const RunHistory& history;
  std::map<PeerId, wire::Standing> standings;
  std::set<PeerId> on_trial;
  std::set<PeerId> asking;
  std::set<PeerId> asleep;
};

Scene SceneOf(const NodeStatus& status, const RunHistory& history) {
  Scene scene{status, history, {}, {}, {}, {}};
  // If members without a link are awaited, they alone are named: the others may wait for them.
  if (const auto waiting = status.met ? host::WaitingOf(status) : std::nullopt) {
    scene.asleep.insert(waiting->peers.begin(), waiting->peers.end());
  }
  const auto& block = history.block();
  if (block == nullptr) return scene;
  for (const wire::Standing& each : block->standings) scene.standings[each.peer] = each;
  for (const wire::Candidate& each : block->candidates) scene.asking.insert(each.peer);
  scene.on_trial = OnTrial(*block);
  return scene;
}

// docs/json.md says what each means.
const char* StateOf(const Scene& scene, const PeerId& peer) {
  const auto standing = scene.standings.find(peer);
  if (standing != scene.standings.end() && standing->second.banned) return "banned";
  const auto& block = scene.history.block();
  if (block != nullptr && !IsIn(block->members, peer)) {
    const bool left = standing != scene.standings.end() && host::HasLeft(standing->second);
    return left ? "left" : "dropped";
  }
  if (block != nullptr && IsIn(block->leaving, peer)) return "leaving";
  const bool here = peer == scene.status.self
                        ? scene.history.away().empty()
                        : host::PathTo(scene.status, peer) != host::Path::kNone;
  // After the end all links close, and the last roles say more.
  if (!here && !scene.status.outcome) return "away";
  if (scene.asleep.contains(peer)) return "asleep";
  if (scene.on_trial.contains(peer)) return "on trial";
  if (scene.history.validators().contains(peer)) return "checks";
  return scene.history.workers().contains(peer) ? "trains" : "ready";
}

// Of a member that is in the run.
bool HasReturned(const Scene& scene, const PeerId& peer) {
  const auto standing = scene.standings.find(peer);
  if (standing == scene.standings.end()) return false;
  const wire::Standing& of = standing->second;
  return of.came_step == 0 || of.returned_step > of.came_step;
}

// Whether it came back, and whether it may.
void AddPlace(const Scene& scene, const PeerId& id, json& key) {
  const bool gone = key["state"] == "dropped" || key["state"] == "left";
  if (gone && scene.asking.contains(id)) key["asks"] = true;
  const auto standing = scene.standings.find(id);
  if (gone && standing != scene.standings.end() &&
      wire::HeightOf(*scene.history.block()) < standing->second.barred_until) {
    key["may_return"] = standing->second.barred_until;
  }
  if (key["state"] != "banned" && !gone && HasReturned(scene, id)) key["returned"] = true;
}

// Samples are verified if the member's gradient entered the model under a sealed PROOF (RunHistory,
// H2), whose numbers every aggregator has checked. A ban takes all of them away: it says that some
// were false.
void AddWork(const StatusRun& run, const Scene& scene, const PeerId& id, json& key) {
  host::MemberWork work;
  const auto known = scene.history.work().find(id);
  if (known != scene.history.work().end()) work = known->second;
  const protocol::TrainingPlan& plan = run.manifest->training;
  const bool counts = key["state"] != "banned";
  key["samples"] = counts ? work.BatchesOf(plan.batches) * plan.inner.steps * plan.batch_size : 0;
  key["checked"] = work.checked;
  key["checks"] = work.checks;
  const auto& block = scene.history.block();
  key["late_ms"] = block == nullptr ? 0 : protocol::LatenessOf(*block, id);
}

json KeyOf(const StatusRun& run, const Scene& scene, const PeerId& id) {
  const bool self = id == scene.status.self;
  json key = {{"peer", id.Hex()}, {"state", StateOf(scene, id)}};
  if (self) key["self"] = true;
  if (scene.status.only_dial.contains(id)) key["only_dials"] = true;
  if (!self && host::PathTo(scene.status, id) == host::Path::kForwarded) key["carried"] = true;
  const auto known = scene.status.addresses.find(id);
  if (known != scene.status.addresses.end() && !known->second.empty()) {
    key["address"] = known->second.front().text;
  }
  AddPlace(scene, id, key);
  AddWork(run, scene, id, key);
  const auto traffic = scene.status.traffic.by_peer.find(id);
  if (traffic != scene.status.traffic.by_peer.end()) {
    key["sent_bytes"] = traffic->second.control_sent + traffic->second.payload_sent;
    key["received_bytes"] = traffic->second.control_received + traffic->second.payload_received;
  }
  return key;
}

}  // namespace

json KeysJson(const StatusRun& run, const NodeStatus& status, const RunHistory& history) {
  const Scene scene = SceneOf(status, history);
  std::set<PeerId> ids;
  for (const protocol::Member& member : run.manifest->members) ids.insert(member.id);
  if (history.block() != nullptr) {
    ids.insert(history.block()->members.begin(), history.block()->members.end());
  }
  for (const auto& [peer, standing] : scene.standings) ids.insert(peer);
  // Keys without a name come last.
  std::vector<PeerId> sorted(ids.begin(), ids.end());
  const auto order = [&](const PeerId& id) {
    const std::string name = run.names.Of(id);
    return std::tuple(id != status.self, name.empty(), name, id);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const PeerId& a, const PeerId& b) { return order(a) < order(b); });
  json keys = json::array();
  for (const PeerId& id : sorted) keys.push_back(KeyOf(run, scene, id));
  return keys;
}

}  // namespace ostraka::cli
