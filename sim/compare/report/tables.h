// results.csv, results.json, timings.csv, selection.csv, table.tex and table.md.
//
// All but timings.csv are a function of the grid, the code version and the compute profile: the
// same bytes however often the cells were interrupted, and in whatever order they ended.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/selection.h"

namespace ostraka::compare {

// A row a cell with a result: its id, every parameter, the code version, the compute profile and
// what came out. Fields that mean nothing for a cell are empty.
std::string ResultsCsv(const std::vector<Done>& done, const Maker& maker);

// The same with the curves, what failed, what was left out and the selection.
std::string ResultsJson(const Plan& plan, const Records& records, const std::vector<Line>& lines,
                        const Maker& maker);

// What no second run repeats.
std::string TimingsCsv(const std::vector<Done>& done, const std::string& processor);

// A row for each setting and rule: the choice and what it came to.
std::string SelectionCsv(const std::vector<Line>& lines);

// A booktabs table for each setting: rules down, attacks across, means in percent with the
// half-width of the 95 % interval, the best and what cannot be told from it in bold.
std::string LatexTable(const Plan& plan, const std::vector<Line>& lines);
// The same tables for pages.
std::string MarkdownTable(const std::vector<Line>& lines);

// "92.4" for 0.924.
std::string Percent(double share);

// For a terminal: a table for each setting, and who won.
std::string TextTable(const std::vector<Line>& lines);

// [{"setting", "attack", "winner", "not_told_apart"}], "worst" being an attack too.
std::string WinnersJson(const std::vector<Line>& lines);

// What of the settings differs: "model=mlp byzantine=7"; empty if there is only one.
std::string SettingName(const std::vector<Line>& lines, const Line& line);

// Lines of one setting, in order; settings in the order in which they first appear.
std::vector<std::vector<const Line*>> BySetting(const std::vector<Line>& lines);

}  // namespace ostraka::compare
