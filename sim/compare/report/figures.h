// The figures of a comparison, as SVG.
//
// Accuracies are on test data, at the hyperparameters that were chosen on validation data. A rule
// has one colour in all figures of a report. Nothing is drawn without a result behind it.
// Thread safety: pure functions, but for FiguresOf, which reads the plan's data.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/plan/grid.h"
#include "sim/compare/report/selection.h"

namespace ostraka::compare {

struct Figure {
  std::string name;     // of its file, without .svg
  std::string caption;  // one or two sentences: what is to be seen
  std::string svg;
};

// A panel an attack: mean accuracy over seeds against steps, with the 95 % interval as a band.
// REQUIRES: lines of one setting, at least one.
std::string CurvesSvg(const std::vector<const Line*>& lines);

// Rules down, attacks across, the worst last; a shade and a number each.
std::string TableSvg(const std::vector<const Line*>& lines);

// Worst accuracy against the mean seconds of a cell.
std::string CostSvg(const std::vector<const Line*>& lines);

// Number of Byzantine workers (down) against partition (across): a map a rule, of its worst
// accuracy, and one that names the best rule. Empty if there is one place only, or if anything else
// differs between the settings than these two.
std::string HeatMapsSvg(const std::vector<Line>& lines);

// Steps from the first misdeed to the ban of the last attacker, by attack and seed. Empty without
// a run of the protocol that banned.
std::string BansSvg(const std::vector<Line>& lines);

// How many rows of each class each worker holds, for seed `cell.seed`: a circle's area.
base::StatusOr<std::string> PartitionSvg(const train::Dataset& data, const Cell& cell);

// All of them that there is something to draw for. Errors of data that were there before.
base::StatusOr<std::vector<Figure>> FiguresOf(const Plan& plan, const std::vector<Line>& lines);

}  // namespace ostraka::compare
