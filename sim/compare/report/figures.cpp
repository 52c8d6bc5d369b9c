#include "sim/compare/report/figures.h"

#include <map>
#include <set>

#include "sim/compare/report/tables.h"

namespace ostraka::compare {
namespace {

// "model mlp, byzantine 7" as part of a file's name.
std::string FileName(const std::string& kind, const std::string& setting) {
  std::string name = kind;
  bool gap = true;
  for (const char c : setting) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    if (plain && gap) name += '-';
    if (plain) name += c;
    gap = !plain;
  }
  return name;
}

std::string Of(const std::string& setting) { return setting.empty() ? "" : " (" + setting + ")"; }

void AddSetting(const std::vector<Line>& lines, const std::vector<const Line*>& setting,
                std::vector<Figure>& figures) {
  const std::string name = SettingName(lines, *setting.front());
  const std::string title = ScoreTitle(setting.front()->score);
  figures.push_back({FileName("table", name),
                     "The " + title + " at the end" + Of(name) +
                         ": the mean over seeds, at hyperparameters chosen on validation data. "
                         "Worst: under the worst of the attacks.",
                     TableSvg(setting)});
  figures.push_back({FileName("curves", name),
                     "The " + title + " against steps" + Of(name) +
                         ": the mean over seeds and its 95 % interval. The attack begins at the "
                         "dashed line. Panels whose curves end "
                         "close together show only the range in which they do.",
                     CurvesSvg(setting)});
  figures.push_back({FileName("cost", name),
                     "The worst " + title +
                         ", with its 95 % interval, against what a run "
                         "costs" +
                         Of(name) +
                         ". The protocol's runs simulate every member, its messages and its "
                         "signatures; a server's runs simulate no network.",
                     CostSvg(setting)});
}

base::Status AddPartitions(const Plan& plan, std::vector<Figure>& figures) {
  std::set<std::string> drawn;
  std::map<std::string, train::Dataset> data;
  for (const Cell& cell : plan.cells) {
    if (cell.partition == "shared") continue;  // nothing to show: every worker holds all rows
    const std::string name =
        cell.data + " " + cell.partition + " " + std::to_string(cell.peers) + " workers";
    if (!drawn.insert(name).second) continue;
    if (!data.contains(cell.data)) {
      ASSIGN_OR_RETURN(data[cell.data], train::LoadDataset(plan.sources.at(cell.data)));
    }
    ASSIGN_OR_RETURN(std::string svg, PartitionSvg(data[cell.data], cell));
    figures.push_back({FileName("partition", name),
                       "Who holds what: " + name + ", seed " + std::to_string(cell.seed) +
                           "; areas are numbers of rows.",
                       std::move(svg)});
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<std::vector<Figure>> FiguresOf(const Plan& plan, const std::vector<Line>& lines) {
  std::vector<Figure> figures;
  for (const auto& setting : BySetting(lines)) AddSetting(lines, setting, figures);
  // One map for each combination of the other settings: for example, all lines of one model in one
  // figure.
  std::vector<std::pair<std::string, std::vector<Line>>> groups;
  for (const Line& line : lines) {
    Cell rest = *line.cell;
    rest.byzantine = rest.tolerate = 0;
    rest.partition.clear();
    const std::string key = KeyOf(rest, {Role::kSetting});
    if (groups.empty() || groups.back().first != key) groups.push_back({key, {}});
    groups.back().second.push_back(line);
  }
  for (const auto& [key, group] : groups) {
    std::string svg = HeatMapsSvg(group);
    if (svg.empty()) continue;
    const std::string name =
        groups.size() > 1 ? group.front().cell->data + " " + group.front().cell->model : "";
    figures.push_back({FileName("map", name),
                       "The worst " + ScoreTitle(group.front().score) + Of(name) +
                           " by the number of Byzantine workers and the partition; and the rule "
                           "that is best at its worst (=2: two more rules cannot be distinguished "
                           "from it).",
                       std::move(svg)});
  }
  if (std::string svg = BansSvg(lines); !svg.empty()) {
    figures.push_back(
        {"bans",
         "How long attackers of the protocol stayed: each dot is a run, from the "
         "first misdeed to the block that banned or dropped the last attacker; beside them "
         "the number of runs in which all were.",
         std::move(svg)});
  }
  RETURN_IF_ERROR(AddPartitions(plan, figures));
  return figures;
}

}  // namespace ostraka::compare
