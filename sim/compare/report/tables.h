// results.csv, results.json, timings.csv, selection.csv, table.tex and table.md.
//
// All files but timings.csv are functions of the grid, the code version and the compute profile:
// equal bytes however often the cells were interrupted, and in whatever order they ended.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/selection.h"

namespace ostraka::compare {

// One row for each cell with a result: its id, every parameter, the code version, the compute
// profile and the results. Fields that do not apply to a cell are empty.
std::string ResultsCsv(const std::vector<Done>& done, const Maker& maker);

// The contents of ResultsCsv with the curves, failures, combinations left out and the selection.
std::string ResultsJson(const Plan& plan, const Records& records, const std::vector<Line>& lines,
                        const Maker& maker);

// The measurements that differ from run to run.
std::string TimingsCsv(const std::vector<Done>& done, const std::string& processor);

// One row for each setting and rule: the choice and its results.
std::string SelectionCsv(const std::vector<Line>& lines);

// A booktabs table for each setting: rules down, attacks across, mean scores with the half-width of
// the 95 % interval; the best entry, and entries that cannot be distinguished from it, in bold.
std::string LatexTable(const Plan& plan, const std::vector<Line>& lines);
// The tables of LatexTable, for pages.
std::string MarkdownTable(const std::vector<Line>& lines);

// For a terminal: a table for each setting, and the winner.
std::string TextTable(const std::vector<Line>& lines);

// [{"setting", "attack", "winner", "not_told_apart"}], where "worst" counts as an attack.
std::string WinnersJson(const std::vector<Line>& lines);

// The parameters in which the settings differ: "model=mlp byzantine=7"; empty if there is only one.
std::string SettingName(const std::vector<Line>& lines, const Line& line);

// The lines by setting, in order; settings in the order of first appearance.
std::vector<std::vector<const Line*>> BySetting(const std::vector<Line>& lines);

}  // namespace ostraka::compare
