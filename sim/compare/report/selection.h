// From finished cells to the numbers of a paper: hyperparameters chosen on validation data, each
// rule's score on test data at that choice, and the worst over the attacks.
//
// No leakage: the choice uses only validation scores at the end of the runs; test scores are read
// once, for the chosen ones. The number that benchmarks with leakage report (the best step
// on test data, as in ByzFL's heat maps) stands beside it under its own name, optimistic.
//
// Thread safety: pure functions; results point into the cells and records they are made from.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/score.h"
#include "sim/compare/report/statistics.h"

namespace ostraka::compare {

// A cell that has a result.
struct Done {
  const Cell* cell = nullptr;
  const CellResult* result = nullptr;
  const CellCost* cost = nullptr;
};
// The plan's done cells, in its order.
std::vector<Done> DoneCells(const Plan& plan, const Records& records);

// One rule under one attack, at the chosen hyperparameters.
struct UnderAttack {
  std::string attack;
  std::vector<Done> runs;    // by seed
  std::vector<double> test;  // score at the end, by seed
  Interval interval;         // of `test`
  double lowest = 0;         // mean over seeds of the worst score after the attack began
  double optimistic = 0;     // the best step of the mean test curve
};

// One rule in one setting.
struct Line {
  Score score = Score::kAccuracy;    // what all numbers of the line are
  const Cell* cell = nullptr;        // a cell with the setting, the rule and the choice
  std::string setting;               // KeyOf of its setting
  std::size_t choices = 0;           // number of hyperparameter choices
  double validation_worst = 0;       // the criterion of the choice: the worst mean of an attack
  std::vector<UnderAttack> attacks;  // in the order of the grid
  // Over all attacks except "none", if there is another one.
  Interval worst;
  std::string worst_attack;
  double optimistic_worst = 0;
  bool complete = false;  // all cells of all choices are done; else the choice may change
};

// A line for each setting and rule with a done cell, in the plan's order.
std::vector<Line> Select(const Plan& plan, const std::vector<Done>& done);

// The line's entry for an attack; null if none of its runs is done.
const UnderAttack* Find(const Line& line, const std::string& attack);
// Every attack of the lines, in the order of first appearance.
std::vector<std::string> AttacksOf(const std::vector<const Line*>& lines);

// The best of some rules by mean, and those that cannot be distinguished from it.
struct Winner {
  const Line* line = nullptr;
  std::vector<const Line*> ties;

  // True for the best line and for those that cannot be distinguished from it.
  bool Has(const Line* other) const;
};
// For one setting's lines under one attack. Ties are decided by paired differences over the seeds.
// REQUIRES: a line that has the attack.
Winner BestUnder(const std::vector<const Line*>& lines, const std::string& attack);
// By the worst attack. Lines whose intervals overlap the winner's tie with it. Lines with
// unfinished cells take no part, since their worst may be to come, unless all lines have some.
// REQUIRES: a line.
Winner BestAtWorst(const std::vector<const Line*>& lines);

}  // namespace ostraka::compare
