#include "sim/compare/report/report.h"

#include <algorithm>
#include <map>
#include <set>

#include "sim/compare/plan/grid_toml.h"
#include "sim/compare/report/tables.h"
#include "sim/page/html.h"
#include "sim/page/svg.h"

namespace ostraka::compare {
namespace {

std::string WithInterval(Score score, const Interval& interval) {
  std::string text = ScoreText(score, interval.mean);
  if (interval.high - interval.low < 2 * std::max(BestOf(score), WorstOf(score))) {
    const Interval possible = Possible(score, interval);
    text += " <small>" + ScoreText(score, possible.low) + "&ndash;" +
            ScoreText(score, possible.high) + "</small>";
  }
  return text;
}

std::string TableOf(const std::vector<const Line*>& lines) {
  const std::vector<std::string> attacks = AttacksOf(lines);
  // The worst attack comes first, since a page may be narrower than the table.
  std::string head =
      page::Tag("th", "rule") + page::Tag("th", "worst") + page::Tag("th", "by", "text");
  for (const std::string& attack : attacks) head += page::Tag("th", page::Escaped(attack));
  head += page::Tag("th", "worst, optimistic");
  std::string rows = page::Tag("tr", head) + "\n";
  const Winner at_worst = BestAtWorst(lines);
  for (const Line* line : lines) {
    std::string row = page::Tag("td", page::Escaped(line->cell->rule.family));
    row +=
        page::Tag("td", WithInterval(line->score, line->worst), at_worst.Has(line) ? "best" : "");
    row += page::Tag("td", page::Escaped(line->worst_attack), "text");
    for (const std::string& attack : attacks) {
      const UnderAttack* under = Find(*line, attack);
      const bool best = BestUnder(lines, attack).Has(line);
      row += page::Tag("td", under == nullptr ? "" : WithInterval(line->score, under->interval),
                       best ? "best" : "");
    }
    row += page::Tag("td", ScoreText(line->score, line->optimistic_worst));
    rows += page::Tag("tr", row) + "\n";
  }
  return page::Table(rows);
}

std::string WinnersOf(const std::vector<const Line*>& lines) {
  const Winner winner = BestAtWorst(lines);
  std::string text =
      "Best at its worst: " + page::Tag("b", page::Escaped(winner.line->cell->rule.family)) +
      " with " + ScoreText(winner.line->score, winner.line->worst.mean) +
      (winner.line->score == Score::kLoss ? " nats" : " %");
  for (std::size_t i = 0; i < winner.ties.size(); ++i) {
    text += (i == 0 ? "; the intervals do not distinguish it from " : ", ") +
            page::Escaped(winner.ties[i]->cell->rule.family);
  }
  return page::Tag("p", text + ".") + "\n";
}

// The hyperparameters that differ somewhere in the plan, by name, without the pipeline.
std::set<std::string> Varied(const Plan& plan) {
  std::map<std::string, std::string> first;
  std::set<std::string> varied;
  for (const Cell& cell : plan.cells) {
    for (const Column& column : ColumnsOf(cell)) {
      if (column.role != Role::kChoice || column.name == "pipeline") continue;
      const auto [place, fresh] = first.emplace(column.name, column.text);
      if (!fresh && place->second != column.text) varied.insert(place->first);
    }
  }
  return varied;
}

// "learning_rate=0.2", of those in `names` or, with `others`, not in it; the pipeline, if the rule
// had a choice of several.
std::string ChoiceText(const Cell& cell, const std::set<std::string>& names, bool others) {
  std::string text;
  for (const Column& column : ColumnsOf(cell)) {
    if (column.role != Role::kChoice) continue;
    const std::string name(column.name);
    const bool wanted = name == "pipeline" ? !others && column.text != cell.rule.family
                                           : names.contains(name) != others;
    if (wanted) text += (text.empty() ? "" : " ") + name + "=" + column.text;
  }
  return text;
}

std::string ChoicesOf(const Plan& plan, const std::vector<Line>& lines) {
  if (std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.choices == 1; })) {
    return page::Tag("p", "The grid gives one value to each hyperparameter: nothing was chosen.") +
           "\n";
  }
  const std::set<std::string> varied = Varied(plan);
  const bool settings = BySetting(lines).size() > 1;
  std::string rows = page::Tag(
      "tr", page::Tag("th", "rule") + (settings ? page::Tag("th", "setting", "text") : "") +
                page::Tag("th", "chosen", "text") + page::Tag("th", "of") +
                page::Tag("th", "worst on validation") + page::Tag("th", "worst on test"));
  for (const Line& line : lines) {
    const std::string setting = page::Escaped(SettingName(lines, line));
    rows += page::Tag(
                "tr",
                page::Tag("td", page::Escaped(line.cell->rule.family)) +
                    (settings ? page::Tag("td", setting, "text") : "") +
                    page::Tag("td", page::Escaped(ChoiceText(*line.cell, varied, false)), "text") +
                    page::Tag("td", std::to_string(line.choices)) +
                    page::Tag("td", ScoreText(line.score, line.validation_worst)) +
                    page::Tag("td", ScoreText(line.score, line.worst.mean))) +
            "\n";
  }
  const std::string fixed = ChoiceText(*lines.front().cell, varied, true);
  return page::Table(rows) +
         (fixed.empty()
              ? ""
              : page::Tag("p", "Equal in all runs: " + page::Escaped(fixed) + ".") + "\n");
}

std::string Notes(const ReportInput& input) {
  std::string text;
  for (const std::string& line : input.plan.left_out) {
    text += page::Tag("p", "Left out: " + page::Escaped(line) + ".") + "\n";
  }
  const std::size_t done = DoneCells(input.plan, input.records).size();
  const std::size_t missing = input.plan.cells.size() - done - input.failed.size();
  if (missing > 0) {
    text +=
        page::Tag("p", page::Tag("b", std::to_string(missing) + " cells have not been run yet") +
                           ": choices and tables may still change.") +
        "\n";
  }
  for (const std::string& line : input.failed) {
    text += page::Tag("p", page::Tag("b", "Failed: ") + page::Escaped(line)) + "\n";
  }
  return text;
}

bool IsOf(const Figure& figure, const char* kind) { return figure.name.starts_with(kind); }

}  // namespace

std::string ReportHtml(const ReportInput& input) {
  const std::string& name = input.plan.grid.name;
  const Score score = ScoreOf(input.plan.grid);
  std::string body = page::Tag("h1", page::Escaped(name)) + "\n";
  body += page::Tag("p", std::to_string(input.plan.cells.size()) + " runs &middot; ostraka " +
                             page::Escaped(input.maker.version) + " &middot; " +
                             page::Escaped(input.maker.profile) + " &middot; " +
                             page::Escaped(input.processor)) +
          "\n" + Notes(input);
  body +=
      page::Tag("h2", score == Score::kLoss ? "Test loss" : "Test accuracy") + "\n" +
      page::Tag(
          "p",
          std::string(score == Score::kLoss ? "Nats" : "Percent") +
              " at the end of the runs, mean over seeds and 95 % interval (Student's t). "
              "Hyperparameters were chosen on validation data, by the worst attack; test data were "
              "read once. The interval of the worst covers the worst of all attacks (union bound). "
              "Bold: the best of a column, and entries that paired differences over the seeds (for "
              "the "
              "worst: the intervals) do not distinguish from it. Optimistic: the number that "
              "benchmarks report if they choose the best step on test data; do not cite it.") +
      "\n";
  for (const auto& setting : BySetting(input.lines)) {
    const std::string own = SettingName(input.lines, *setting.front());
    if (!own.empty()) body += page::Tag("h3", page::Escaped(own)) + "\n";
    body += TableOf(setting) + WinnersOf(setting);
  }
  const std::pair<const char*, const char*> sections[] = {
      {"table", "Rules against attacks"},
      {"curves", score == Score::kLoss ? "Loss against steps" : "Accuracy against steps"},
      {"map", "Byzantine workers and heterogeneity"},
      {"cost", "Robustness against cost"},
      {"bans", "Time to the last ban or drop"},
      {"partition", "Partitions"}};
  for (const auto& [kind, title] : sections) {
    std::string section;
    for (const Figure& figure : input.figures) {
      if (IsOf(figure, kind)) section += page::Figure(figure.svg, figure.caption);
    }
    if (!section.empty()) body += page::Tag("h2", title) + "\n" + section;
  }
  body += page::Tag("h2", "Chosen hyperparameters") + "\n" + ChoicesOf(input.plan, input.lines);
  body += page::Tag("h2", "The grid") + "\n" +
          page::Tag("pre", page::Escaped(WriteGrid(input.plan.grid))) + "\n";
  return page::Document(name, body);
}

}  // namespace ostraka::compare
