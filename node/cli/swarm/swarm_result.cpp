// Judges a swarm by its nodes' reports.
#include <algorithm>
#include <map>
#include <set>

#include "node/cli/swarm/swarm.h"
#include "node/cli/views/node_json.h"
#include "node/host/report/trend.h"
#include "sim/attacks/registry.h"

namespace ostraka::cli {
namespace {

using nlohmann::json;

struct Tally {
  json removals = json::array();
  std::set<std::string> honest_banned;
  std::set<std::string> honest_dropped;  // including those that returned
  std::set<std::string> byzantine_removed;
  // For the honest nodes that report their end. Removals and state roots are compared only between
  // nodes at equal steps, because nodes that stopped at different steps may differ legitimately.
  bool same_step = true;
  bool removals_agree = true;
  bool roots_equal = true;
  const json* first = nullptr;  // report of the first honest node that has one
  std::uint64_t bytes_sent = 0;
  std::uint64_t payload_bytes_honest = 0;
  std::uint64_t peak_rss_bytes = 0;
  double longest_turn_seconds = 0;
  std::map<std::string, double> seconds_per_step;
  std::size_t honest_reports = 0;
};

void Add(const SwarmNode& node, Tally& tally) {
  if (node.report.is_null()) return;
  const json& report = node.report;
  tally.bytes_sent += report["bytes_sent"].get<std::uint64_t>();
  tally.peak_rss_bytes =
      std::max(tally.peak_rss_bytes, report["peak_rss_bytes"].get<std::uint64_t>());
  tally.longest_turn_seconds =
      std::max(tally.longest_turn_seconds, report["longest_turn_seconds"].get<double>());
  if (node.byzantine) return;
  ++tally.honest_reports;
  tally.payload_bytes_honest += report["payload_bytes_sent"].get<std::uint64_t>();
  for (const auto& [part, seconds] : report["seconds_per_step"].items()) {
    tally.seconds_per_step[part] += seconds.get<double>();
  }
  if (tally.first == nullptr) {
    tally.first = &report;
    tally.removals = report["removals"];
  }
  // It ended before the others.
  if (node.leaves && report["end"] == "left") return;
  const json& first = *tally.first;
  if (report["steps"] != first["steps"]) {
    tally.same_step = false;
    return;
  }
  // A new member knows of those before its time by their standings alone.
  const bool same = node.comes || report["removals"] == first["removals"];
  tally.removals_agree = tally.removals_agree && same;
  const json none;  // before the first step
  tally.roots_equal =
      tally.roots_equal && report.value("state_root", none) == first.value("state_root", none);
}

void CountRemovals(const SwarmRun& run, Tally& tally) {
  for (const json& removal : tally.removals) {
    for (const SwarmNode& node : run.nodes) {
      if (node.id.Hex() != removal["peer"]) continue;
      std::set<std::string>& of_honest =
          RemovalWord(removal) == "banned" ? tally.honest_banned : tally.honest_dropped;
      (node.byzantine ? tally.byzantine_removed : of_honest).insert(node.id.Hex());
    }
  }
}

// Whether the protocol promises to remove peers with this attack.
bool MustRemove(const SwarmOptions& options) {
  const std::uint32_t attackers = options.byzantine + options.intruders;
  if (options.unprotected || attackers == 0 || options.attack == "none") return false;
  const auto attack = sim::FindAttack(options.attack);
  return !attack.ok() || attack->outcome != sim::KnownAttack::Outcome::kContained;
}

// Accuracy must be at least the target, a loss at most.
void RequireTarget(double target, const Tally& tally, json& problems) {
  const std::string wanted = std::to_string(target);
  if (tally.first == nullptr || !tally.first->contains("metric") ||
      !(*tally.first)["metric"]["value"].is_number()) {
    problems.push_back("there is no metric to compare with the target " + wanted);
    return;
  }
  const json& metric = (*tally.first)["metric"];
  const auto value = metric["value"].get<double>();
  const bool loss = metric["name"] == "loss";
  if (loss ? value <= target : value >= target) return;
  problems.push_back(metric["name"].get<std::string>() + " is " + std::to_string(value) +
                     (loss ? ", above" : ", below") + " the target " + wanted);
}

json ProblemsOf(const SwarmOptions& options, const SwarmRun& run, const Tally& tally) {
  json problems = json::array();
  const auto require = [&problems](bool holds, const std::string& problem) {
    if (!holds) problems.push_back(problem);
  };
  require(!run.interrupted, "interrupted");
  const std::size_t came = run.came.size();
  const std::size_t guests = std::size_t{options.joins} + options.intruders;
  require(run.interrupted || came == guests, std::to_string(guests - came) + " of " +
                                                 std::to_string(guests) +
                                                 " that came were not let in");
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    const SwarmNode& node = run.nodes[i];
    const std::string name = "node " + std::to_string(i) + " (" + node.id.Short() + ") ";
    if (node.report.is_null()) {
      // The others were stopped because one could not start; a Byzantine node need not end by
      // itself.
      if (run.not_started && run.not_started != i) continue;
      if (node.byzantine && node.stopped) continue;
      if (node.comes && !node.started) continue;  // counted as not let in
      require(false, name + "ended without a report, status " + std::to_string(node.exit_status) +
                         (node.last_words.empty() ? "" : " (" + node.last_words + ")") + ": see " +
                         node.log_file);
    } else if (!node.byzantine && node.report["end"] != "finished" &&
               !(node.leaves && node.report["end"] == "left")) {
      require(false, name + node.report["end"].get<std::string>() + ": " +
                         node.report["reason"].get<std::string>());
    }
  }
  if (MustRemove(options)) {
    const std::size_t removed = tally.byzantine_removed.size();
    const std::size_t all = std::size_t{options.byzantine} + options.intruders;
    require(removed == all, std::to_string(all - removed) + " of " + std::to_string(all) +
                                " Byzantine peers were neither banned nor dropped");
  }
  std::set<std::string> honest = tally.honest_banned;
  honest.insert(tally.honest_dropped.begin(), tally.honest_dropped.end());
  require(honest.empty(), std::to_string(honest.size()) + " honest peers were banned or dropped");
  require(tally.same_step, "the honest nodes ended after different steps");
  require(tally.removals_agree, "honest nodes disagree on who was banned or dropped");
  require(tally.roots_equal, "the honest nodes' state roots differ");
  // The results of the honest members alone are unknown here, but a run that learned nothing is no
  // success.
  const std::string trouble = host::TroubleOf(run.losses, CauseOfTrouble(options));
  require(trouble.empty(), trouble);
  if (options.target > 0) RequireTarget(options.target, tally, problems);
  return problems;
}

}  // namespace

std::string CauseOfTrouble(const SwarmOptions& options) {
  if (!options.unprotected || options.byzantine == 0 || options.attack == "none") return {};
  return "that is the work of the " + std::to_string(options.byzantine) +
         (options.byzantine == 1 ? " attacker (" : " attackers (") + options.attack +
         "), whose gradients plain averaging takes in: without --unprotected the same run bans "
         "them";
}

json JudgeSwarm(const SwarmOptions& options, const SwarmRun& run) {
  Tally tally;
  for (const SwarmNode& node : run.nodes) Add(node, tally);
  CountRemovals(run, tally);
  json byzantine = json::array();
  for (const SwarmNode& node : run.nodes) {
    if (node.byzantine) byzantine.push_back(node.id.Hex());
  }
  json names = json::object();
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    names[run.nodes[i].id.Hex()] = SwarmNodeName(i);
  }
  json returns = json::array();
  for (const SwarmReturn& back : run.returns) {
    returns.push_back({{"peer", back.peer}, {"step", back.step}});
  }
  json came = json::array();
  for (const SwarmReturn& one : run.came) {
    came.push_back({{"peer", one.peer}, {"step", one.step}, {"seconds", *one.seconds}});
  }
  const json problems = ProblemsOf(options, run, tally);
  json losses = json::array();
  for (const host::CurvePoint& point : run.losses) losses.push_back(point.loss);
  json result = {
      {"ok", problems.empty()},
      {"peers", options.peers},
      {"byzantine", byzantine},
      {"names", names},
      {"attack", options.attack},
      {"unprotected", options.unprotected},
      {"seed", options.seed},
      {"parameters", run.dimension},
      {"steps", tally.first == nullptr ? json(0) : (*tally.first)["steps"]},
      {"removals", tally.removals},
      {"returns", returns},
      {"came", came},
      {"honest_banned", tally.honest_banned.size()},
      {"honest_dropped", tally.honest_dropped.size()},
      {"state_roots_equal", tally.roots_equal && tally.same_step && tally.honest_reports > 0},
      {"metric", nullptr},
      {"loss", losses},
      {"seconds", run.seconds},
      {"bytes_sent", tally.bytes_sent},
      {"peak_rss_bytes", tally.peak_rss_bytes},
      {"longest_turn_seconds", tally.longest_turn_seconds},
      {"problems", problems}};
  if (run.wan) {
    result["wan"] = {{"bits_per_second", run.wan->bits_per_second},
                     {"delay_seconds", run.wan->delay.seconds()},
                     {"bytes", run.line_bytes}};
  }
  if (tally.first != nullptr && tally.first->contains("metric")) {
    result["metric"] = (*tally.first)["metric"];
  }
  for (auto& [part, seconds] : tally.seconds_per_step) {
    result["seconds_per_step"][part] = seconds / static_cast<double>(tally.honest_reports);
  }
  if (tally.honest_reports > 0 && result["steps"].get<double>() > 0) {
    result["payload_bytes_per_step"] = static_cast<double>(tally.payload_bytes_honest) /
                                       static_cast<double>(tally.honest_reports) /
                                       result["steps"].get<double>();
  }
  return result;
}

}  // namespace ostraka::cli
