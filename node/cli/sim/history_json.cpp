#include "node/cli/sim/history_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "node/cli/views/node_json.h"

namespace ostraka::cli {

using nlohmann::json;

json HistoryJson(const sim::RunAndHistory& run) {
  std::map<std::uint64_t, json> removals;  // by step
  for (const wire::Removal& removal : run.result.removals) {
    removals[removal.step].push_back(JsonOf(removal));
  }
  std::map<std::uint64_t, json> returns;
  for (const sim::History::Return& one : run.history.returns) {
    returns[one.step].push_back({{"peer", run.roster.ids[one.peer].Hex()}, {"step", one.step}});
  }
  const auto of_step = [](const std::map<std::uint64_t, json>& all, std::uint64_t step) {
    const auto found = all.find(step);
    return found == all.end() ? json::array() : found->second;
  };
  json steps = json::array();
  for (const sim::History::Row& row : run.history.rows) {
    steps.push_back({{"step", row.step},
                     {"members", {{"byzantine", row.byzantine}, {"honest", row.honest}}},
                     {"loss", row.loss},
                     {"removals", of_step(removals, row.step)},
                     {"returns", of_step(returns, row.step)}});
  }
  json byzantine = json::array();
  json names = json::object();
  for (std::uint32_t peer = 0; peer < run.roster.ids.size(); ++peer) {
    const std::string id = run.roster.ids[peer].Hex();
    names[id] = "peer " + std::to_string(peer);
    if (!run.roster.IsHonest(peer)) byzantine.push_back(id);
  }
  return {{"byzantine", byzantine}, {"names", names}, {"steps", steps}};
}

}  // namespace ostraka::cli
