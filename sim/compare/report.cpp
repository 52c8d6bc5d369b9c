#include "sim/compare/report.h"

#include <algorithm>

#include "sim/compare/grid_toml.h"
#include "sim/compare/svg.h"
#include "sim/compare/tables.h"

namespace ostraka::compare {
namespace {

constexpr char kStyle[] = R"(
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; max-width: 1160px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 24px; } h2 { font-size: 19px; margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; }
th, td { padding: 3px 9px; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
td.best { font-weight: bold; } td small { color: #666; font-weight: normal; }
figure { margin: 1.5em 0; } figcaption { font-size: 13px; color: #444; max-width: 900px; }
figure svg { max-width: 100%; height: auto; }
pre { background: #f6f6f6; padding: 1em; font-size: 12px; overflow-x: auto; }
.scroll { overflow-x: auto; }
)";

std::string Tag(const std::string& name, const std::string& inside, const std::string& kind = "") {
  const std::string attribute = kind.empty() ? "" : " class=\"" + kind + "\"";
  return "<" + name + attribute + ">" + inside + "</" + name + ">";
}

std::string WithInterval(const Interval& interval) {
  std::string text = Percent(interval.mean);
  if (interval.high - interval.low < 2) {
    text += " <small>" + Percent(std::max(interval.low, 0.0)) + "&ndash;" +
            Percent(std::min(interval.high, 1.0)) + "</small>";
  }
  return text;
}

std::string TableOf(const std::vector<const Line*>& lines) {
  const std::vector<std::string> attacks = AttacksOf(lines);
  // The worst first: a page may be narrower than the table.
  std::string head = Tag("th", "rule") + Tag("th", "worst") + Tag("th", "by", "text");
  for (const std::string& attack : attacks) head += Tag("th", Escaped(attack));
  head += Tag("th", "worst, optimistic");
  std::string rows = Tag("tr", head) + "\n";
  const Winner at_worst = BestAtWorst(lines);
  for (const Line* line : lines) {
    std::string row = Tag("td", Escaped(line->cell->rule.family));
    row += Tag("td", WithInterval(line->worst), at_worst.Has(line) ? "best" : "");
    row += Tag("td", Escaped(line->worst_attack), "text");
    for (const std::string& attack : attacks) {
      const UnderAttack* under = Find(*line, attack);
      const bool best = BestUnder(lines, attack).Has(line);
      row += Tag("td", under == nullptr ? "" : WithInterval(under->interval), best ? "best" : "");
    }
    row += Tag("td", Percent(line->optimistic_worst));
    rows += Tag("tr", row) + "\n";
  }
  return "<div class=\"scroll\">" + Tag("table", rows) + "</div>\n";
}

std::string WinnersOf(const std::vector<const Line*>& lines) {
  const Winner winner = BestAtWorst(lines);
  std::string text = "Best at its worst: " + Tag("b", Escaped(winner.line->cell->rule.family)) +
                     " with " + Percent(winner.line->worst.mean) + " %";
  for (std::size_t i = 0; i < winner.ties.size(); ++i) {
    text += (i == 0 ? "; the intervals do not tell it from " : ", ") +
            Escaped(winner.ties[i]->cell->rule.family);
  }
  return Tag("p", text + ".") + "\n";
}

std::string ChoicesOf(const std::vector<Line>& lines) {
  if (std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.choices == 1; })) {
    return Tag("p", "The grid gives one value to each hyperparameter: nothing was chosen.") + "\n";
  }
  std::string rows = Tag("tr", Tag("th", "rule") + Tag("th", "setting", "text") +
                                   Tag("th", "chosen", "text") + Tag("th", "of") +
                                   Tag("th", "worst on validation") + Tag("th", "worst on test"));
  for (const Line& line : lines) {
    rows += Tag("tr", Tag("td", Escaped(line.cell->rule.family)) +
                          Tag("td", Escaped(SettingName(lines, line)), "text") +
                          Tag("td", Escaped(KeyOf(*line.cell, {Role::kChoice})), "text") +
                          Tag("td", std::to_string(line.choices)) +
                          Tag("td", Percent(line.validation_worst)) +
                          Tag("td", Percent(line.worst.mean))) +
            "\n";
  }
  return "<div class=\"scroll\">" + Tag("table", rows) + "</div>\n";
}

std::string Notes(const ReportInput& input) {
  std::string text;
  for (const std::string& line : input.plan.left_out) {
    text += Tag("p", "Left out: " + Escaped(line) + ".") + "\n";
  }
  const std::size_t done = DoneCells(input.plan, input.records).size();
  const std::size_t missing = input.plan.cells.size() - done - input.failed.size();
  if (missing > 0) {
    text += Tag("p", Tag("b", std::to_string(missing) + " cells have not been run yet") +
                         ": choices and tables may still change.") +
            "\n";
  }
  for (const std::string& line : input.failed) {
    text += Tag("p", Tag("b", "Failed: ") + Escaped(line)) + "\n";
  }
  return text;
}

std::string FigureOf(const Figure& figure) {
  return Tag("figure", figure.svg + Tag("figcaption", Escaped(figure.caption))) + "\n";
}

bool IsOf(const Figure& figure, const char* kind) { return figure.name.starts_with(kind); }

}  // namespace

std::string ReportHtml(const ReportInput& input) {
  const std::string& name = input.plan.grid.name;
  std::string body = Tag("h1", Escaped(name)) + "\n";
  body += Tag("p", std::to_string(input.plan.cells.size()) + " runs &middot; ostraka " +
                       Escaped(input.maker.version) + " &middot; " + Escaped(input.maker.profile) +
                       " &middot; " + Escaped(input.processor)) +
          "\n" + Notes(input);
  body +=
      Tag("h2", "Test accuracy") + "\n" +
      Tag("p",
          "Percent at the end of the runs, mean over seeds and 95 % interval (Student's t). "
          "Hyperparameters were chosen on validation data, by the worst attack; test data were "
          "read once. The interval of the worst covers the lowest of all attacks (union bound). "
          "Bold: the best of a column and what paired differences over the seeds, or for the "
          "worst the intervals, do not tell from it. Optimistic: what is reported where the "
          "best step is picked on test data; do not cite it.") +
      "\n";
  for (const auto& setting : BySetting(input.lines)) {
    const std::string own = SettingName(input.lines, *setting.front());
    if (!own.empty()) body += Tag("h3", Escaped(own)) + "\n";
    body += TableOf(setting) + WinnersOf(setting);
  }
  const std::pair<const char*, const char*> sections[] = {
      {"table", "Rules against attacks"},
      {"curves", "Accuracy against steps"},
      {"map", "Byzantine workers and heterogeneity"},
      {"cost", "Robustness against cost"},
      {"bans", "Time to the last ban"},
      {"partition", "Partitions"}};
  for (const auto& [kind, title] : sections) {
    std::string section;
    for (const Figure& figure : input.figures) {
      if (IsOf(figure, kind)) section += FigureOf(figure);
    }
    if (!section.empty()) body += Tag("h2", title) + "\n" + section;
  }
  body += Tag("h2", "Chosen hyperparameters") + "\n" + ChoicesOf(input.lines);
  body += Tag("h2", "The grid") + "\n" + Tag("pre", Escaped(WriteGrid(input.plan.grid))) + "\n";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n" +
         Tag("title", Escaped(name)) + "\n" + Tag("style", kStyle) + "\n</head>\n" +
         Tag("body", "\n" + body) + "\n</html>\n";
}

}  // namespace ostraka::compare
