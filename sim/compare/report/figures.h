// The figures of a comparison, as SVG.
//
// Scores are on test data, at the hyperparameters that were chosen on validation data. A rule has
// one colour in all figures of all reports (looks.h). Nothing is drawn without a result.
//
// Thread safety: pure functions, but for FiguresOf, which reads the plan's data.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/plan/grid.h"
#include "sim/compare/report/selection.h"

namespace ostraka::compare {

struct Figure {
  std::string name;     // file name without .svg
  std::string caption;  // one or two sentences that say what it shows
  std::string svg;
};

// One panel for each attack: mean score over seeds by steps, with the 95 % interval as a band.
// REQUIRES: lines of one setting, at least one.
std::string CurvesSvg(const std::vector<const Line*>& lines);

// Rules down, attacks across, the worst attack last; a shade and a number each.
std::string TableSvg(const std::vector<const Line*>& lines);

// Worst score over the mean seconds of a cell.
std::string CostSvg(const std::vector<const Line*>& lines);

// Number of Byzantine workers (down) by partition (across): one map for each rule with its worst
// score, and one map with the best rule. If there is one number or one partition: one map, rules
// down. Empty if there is only one place, or if the settings
// differ in anything else.
std::string HeatMapsSvg(const std::vector<Line>& lines);

// Steps from the first misdeed to the ban of the last attacker, by attack and seed. Empty if no run
// of the protocol banned.
std::string BansSvg(const std::vector<Line>& lines);

// The number of rows of each class that each worker holds, for seed `cell.seed`, as areas of
// circles.
base::StatusOr<std::string> PartitionSvg(const train::Dataset& data, const Cell& cell);

// All figures for which there are results. Fails if data that existed before cannot be read.
base::StatusOr<std::vector<Figure>> FiguresOf(const Plan& plan, const std::vector<Line>& lines);

}  // namespace ostraka::compare
