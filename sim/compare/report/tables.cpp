#include "sim/compare/report/tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace ostraka::compare {
namespace {

using nlohmann::json;

// RFC 4180.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Row(const std::vector<std::string>& fields) {
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) row += (i == 0 ? "" : ",") + Field(fields[i]);
  return row + "\n";
}

struct Measure {
  const char* name;
  std::string text;
};

std::vector<Measure> MeasuresOf(const Done& run) {
  const CellResult& result = *run.result;
  const Point& last = FinalOf(result);
  std::vector<Measure> measures = {
      {"test_accuracy", NumberText(last.test_accuracy)},
      {"test_loss", NumberText(last.test_loss)},
      {"validation_accuracy", NumberText(last.validation_accuracy)},
      {"validation_loss", NumberText(last.validation_loss)},
      {"lowest_test_accuracy", NumberText(WorstTestAccuracyFrom(result, run.cell->attack_from))},
      {"best_test_accuracy", NumberText(BestTestAccuracy(result))},
      {"byzantine_selected",
       result.byzantine_selected ? NumberText(*result.byzantine_selected) : ""},
      {"bytes_sent", std::to_string(result.bytes)}};
  const bool protocol = result.protocol.has_value();
  std::uint64_t byzantine = 0;
  std::uint64_t honest = 0;
  if (protocol) {
    for (const auto& removal : result.protocol->removals) {
      ++(removal.byzantine ? byzantine : honest);
    }
  }
  measures.push_back({"removed_byzantine", protocol ? std::to_string(byzantine) : ""});
  measures.push_back({"removed_honest", protocol ? std::to_string(honest) : ""});
  const bool detected = protocol && result.protocol->detection_steps;
  measures.push_back(
      {"detection_steps", detected ? std::to_string(*result.protocol->detection_steps) : ""});
  return measures;
}

json JsonOf(const Interval& interval) {
  return {{"mean", JsonOfReal(interval.mean)},
          {"low", JsonOfReal(interval.low)},
          {"high", JsonOfReal(interval.high)}};
}

json JsonOfCell(const Cell& cell) {
  json out = {{"id", IdOf(cell).Short()}};
  for (const Column& column : ColumnsOf(cell)) out[std::string(column.name)] = column.text;
  return out;
}

json Names(const std::vector<const Line*>& lines) {
  json names = json::array();
  for (const Line* line : lines) names.push_back(line->cell->rule.family);
  return names;
}

json JsonOf(const Line& line) {
  json attacks = json::array();
  for (const UnderAttack& under : line.attacks) {
    const bool is_loss = line.score == Score::kLoss;
    attacks.push_back({{"attack", under.attack},
                       {is_loss ? "test_loss" : "test_accuracy", JsonOf(under.interval)},
                       {"by_seed", under.test},
                       {is_loss ? "highest" : "lowest", under.lowest},
                       {"optimistic", under.optimistic}});
  }
  return {{"setting", line.setting},
          {"rule", line.cell->rule.family},
          {"choice", KeyOf(*line.cell, {Role::kChoice})},
          {"choices", line.choices},
          {"complete", line.complete},
          {"validation_worst", line.validation_worst},
          {"worst", JsonOf(line.worst)},
          {"worst_attack", line.worst_attack},
          {"optimistic_worst", line.optimistic_worst},
          {"attacks", attacks}};
}

json JsonOf(const Winner& winner, const std::string& attack) {
  return {{"setting", winner.line->setting},
          {"attack", attack},
          {"winner", winner.line->cell->rule.family},
          {"not_told_apart", Names(winner.ties)}};
}

json WinnersOf(const std::vector<Line>& lines) {
  json winners = json::array();
  for (const auto& setting : BySetting(lines)) {
    for (const std::string& attack : AttacksOf(setting)) {
      winners.push_back(JsonOf(BestUnder(setting, attack), attack));
    }
    winners.push_back(JsonOf(BestAtWorst(setting), "worst"));
  }
  return winners;
}

// --- for papers and pages ------------------------------------------------------------------------

// The entry under an attack, or under "worst" at the end of the row.
struct Entry {
  Score score;
  Interval interval;
  bool best = false;  // or cannot be distinguished from it
};
struct Entries {
  std::string rule;
  std::vector<std::optional<Entry>> entries;  // nullopt: was not run
};

std::vector<Entries> EntriesOf(const std::vector<const Line*>& lines) {
  const Winner at_worst = BestAtWorst(lines);
  std::vector<Entries> rows;
  for (const Line* line : lines) {
    Entries& row = rows.emplace_back(Entries{line->cell->rule.family, {}});
    for (const std::string& attack : AttacksOf(lines)) {
      auto& entry = row.entries.emplace_back();
      if (const UnderAttack* under = Find(*line, attack); under != nullptr) {
        entry = {line->score, under->interval, BestUnder(lines, attack).Has(line)};
      }
    }
    row.entries.push_back(Entry{line->score, line->worst, at_worst.Has(line)});
  }
  return rows;
}

std::string LatexEscaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("_&%#$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c == '|' ? std::string("$|$") : std::string(1, c);
  }
  return escaped;
}

std::string LatexEntry(const Entry& entry) {
  const std::string mean = ScoreText(entry.score, entry.interval.mean);
  const std::string half = HalfWidthText(entry.score, entry.interval);
  return (entry.best ? "\\textbf{" + mean + "}" : mean) +
         (half.empty() ? "" : " {\\scriptsize$\\pm$" + half + "}");
}

std::string LatexOf(const std::vector<const Line*>& lines) {
  const std::vector<std::string> attacks = AttacksOf(lines);
  std::string text = "% " + lines.front()->setting + "\n\\begin{tabular}{l" +
                     std::string(attacks.size() + 1, 'r') + "}\n\\toprule\nrule";
  for (const std::string& attack : attacks) text += " & " + LatexEscaped(attack);
  text += " & worst \\\\\n\\midrule\n";
  for (const Entries& row : EntriesOf(lines)) {
    text += LatexEscaped(row.rule);
    for (const auto& entry : row.entries) text += " & " + (entry ? LatexEntry(*entry) : "");
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

std::string MarkdownEscaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += (c == '|' ? "\\" : "") + std::string(1, c);
  return escaped;
}

std::string MarkdownEntry(const Entry& entry) {
  const std::string mean = ScoreText(entry.score, entry.interval.mean);
  const std::string half = HalfWidthText(entry.score, entry.interval);
  return (entry.best ? "**" + mean + "**" : mean) + (half.empty() ? "" : " ±" + half);
}

std::string MarkdownOf(const std::vector<const Line*>& lines) {
  std::string text = "| rule |";
  std::string rule = "|---|";
  for (const std::string& attack : AttacksOf(lines)) {
    text += " " + MarkdownEscaped(attack) + " |";
    rule += "---|";
  }
  text += " worst |\n" + rule + "---|\n";
  for (const Entries& row : EntriesOf(lines)) {
    text += "| " + MarkdownEscaped(row.rule) + " |";
    for (const auto& entry : row.entries) text += " " + (entry ? MarkdownEntry(*entry) : "") + " |";
    text += "\n";
  }
  return text;
}

// --- text ---------------------------------------------------------------------------------------

std::string Padded(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string TextOf(const std::vector<const Line*>& lines) {
  std::size_t width = 4;
  for (const Line* line : lines) width = std::max(width, line->cell->rule.family.size());
  std::string text = std::string(width, ' ');
  const std::vector<std::string> attacks = AttacksOf(lines);
  for (const std::string& attack : attacks) text += "  " + attack;
  text += "  worst\n";
  for (const Line* line : lines) {
    const std::string& name = line->cell->rule.family;
    text += name + std::string(width - name.size(), ' ');
    for (const std::string& attack : attacks) {
      const UnderAttack* under = Find(*line, attack);
      text += "  " + Padded(under == nullptr ? "" : ScoreText(line->score, under->interval.mean),
                            attack.size());
    }
    text += "  " + Padded(ScoreText(line->score, line->worst.mean), 5) + "  " + line->worst_attack +
            "\n";
  }
  const Winner best = BestAtWorst(lines);
  text += "best at its worst: " + best.line->cell->rule.family;
  for (std::size_t i = 0; i < best.ties.size(); ++i) {
    text += (i == 0 ? "; not distinguished from it: " : ", ") + best.ties[i]->cell->rule.family;
  }
  return text + "\n";
}

}  // namespace

std::string TextTable(const std::vector<Line>& lines) {
  std::string text;
  for (const auto& setting : BySetting(lines)) {
    const std::string name = SettingName(lines, *setting.front());
    text += ScoreTitle(setting.front()->score) + (name.empty() ? "" : ": " + name) + "\n" +
            TextOf(setting) + "\n";
  }
  return text;
}

std::string WinnersJson(const std::vector<Line>& lines) { return WinnersOf(lines).dump(); }

std::string SettingName(const std::vector<Line>& lines, const Line& line) {
  std::string name;
  const std::vector<Column> own = ColumnsOf(*line.cell);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].role != Role::kSetting || own[i].name == "data_hash") continue;
    const bool differs = std::any_of(lines.begin(), lines.end(), [&](const Line& other) {
      return ColumnsOf(*other.cell)[i].text != own[i].text;
    });
    // A parameter at its default adds no information.
    if (!differs || (own[i].name == "tolerate" && line.cell->tolerate == line.cell->byzantine)) {
      continue;
    }
    name += (name.empty() ? "" : ", ") + std::string(own[i].name) + " " + own[i].text;
  }
  return name;
}

std::vector<std::vector<const Line*>> BySetting(const std::vector<Line>& lines) {
  std::vector<std::vector<const Line*>> settings;
  for (const Line& line : lines) {
    const auto known = std::find_if(settings.begin(), settings.end(), [&](const auto& setting) {
      return setting.front()->setting == line.setting;
    });
    if (known == settings.end()) {
      settings.push_back({&line});
    } else {
      known->push_back(&line);
    }
  }
  return settings;
}

std::string ResultsCsv(const std::vector<Done>& done, const Maker& maker) {
  std::string text;
  for (const Done& run : done) {
    std::vector<std::string> names = {"id"};
    std::vector<std::string> values = {IdOf(*run.cell).Short()};
    for (const Column& column : ColumnsOf(*run.cell)) {
      names.emplace_back(column.name);
      values.push_back(column.text);
    }
    for (const Measure& measure : MeasuresOf(run)) {
      names.emplace_back(measure.name);
      values.push_back(measure.text);
    }
    names.insert(names.end(), {"version", "profile"});
    values.insert(values.end(), {maker.version, maker.profile});
    if (text.empty()) text = Row(names);
    text += Row(values);
  }
  return text;
}

std::string ResultsJson(const Plan& plan, const Records& records, const std::vector<Line>& lines,
                        const Maker& maker) {
  json cells = json::array();
  json failed = json::array();
  std::size_t missing = 0;
  for (const Cell& cell : plan.cells) {
    const auto record = records.find(IdOf(cell));
    if (record == records.end()) {
      ++missing;
      continue;
    }
    json out = JsonOfCell(cell);
    if (record->second.result) {
      out["result"] = compare::JsonOf(*record->second.result);
      cells.push_back(std::move(out));
    } else {
      out["error"] = record->second.error;
      failed.push_back(std::move(out));
    }
  }
  json selection = json::array();
  for (const Line& line : lines) selection.push_back(JsonOf(line));
  const json all = {{"name", plan.grid.name},     {"version", maker.version},
                    {"profile", maker.profile},   {"cells", cells},
                    {"failed", failed},           {"missing", missing},
                    {"left_out", plan.left_out},  {"selection", selection},
                    {"winners", WinnersOf(lines)}};
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string TimingsCsv(const std::vector<Done>& done, const std::string& processor) {
  std::string text = Row({"id", "rule", "model", "byzantine", "attack", "seed", "seconds",
                          "peak_memory_bytes", "bytes_sent", "processor"});
  for (const Done& run : done) {
    text +=
        Row({IdOf(*run.cell).Short(), run.cell->rule.family, run.cell->model,
             std::to_string(run.cell->byzantine), run.cell->attack, std::to_string(run.cell->seed),
             NumberText(run.cost->seconds), std::to_string(run.cost->peak_memory_bytes),
             std::to_string(run.result->bytes), processor});
  }
  return text;
}

std::string SelectionCsv(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const Column& column : ColumnsOf(*line.cell)) {
      if (column.role == Role::kAttack || column.role == Role::kSeed) continue;
      names.emplace_back(column.name);
      values.push_back(column.text);
    }
    for (const char* name :
         {"choices", "complete", "validation_worst", "test_worst", "test_worst_low",
          "test_worst_high", "worst_attack", "optimistic_worst"}) {
      names.emplace_back(name);
    }
    for (const std::string& value :
         {std::to_string(line.choices), std::string(line.complete ? "true" : "false"),
          NumberText(line.validation_worst), NumberText(line.worst.mean),
          NumberText(line.worst.low), NumberText(line.worst.high), line.worst_attack,
          NumberText(line.optimistic_worst)}) {
      values.push_back(value);
    }
    if (text.empty()) text = Row(names);
    text += Row(values);
  }
  return text;
}

std::string LatexTable(const Plan& plan, const std::vector<Line>& lines) {
  std::string text =
      "% " + plan.grid.name + ": " + ScoreTitle(ScoreOf(plan.grid)) +
      ", mean and half-width of the 95 % interval over seeds.\n"
      "% Bold: the best, and entries that cannot be distinguished from it. Needs booktabs.\n";
  for (const auto& setting : BySetting(lines)) text += LatexOf(setting) + "\n";
  return text;
}

std::string MarkdownTable(const std::vector<Line>& lines) {
  std::string text;
  for (const auto& setting : BySetting(lines)) {
    const std::string name = SettingName(lines, *setting.front());
    if (!name.empty()) text += "**" + name + "**\n\n";
    text += MarkdownOf(setting) + "\n";
  }
  return text;
}

}  // namespace ostraka::compare
