// From finished cells to what a paper says: hyperparameters chosen on validation data, each rule's
// accuracy on test data at that choice, and the worst over the attacks.
//
// No leakage: the choice reads validation accuracies at the end of the runs and nothing else; test
// accuracies are read once, for what was chosen. The figure that benchmarks with leakage report
// (the best step on test data, as ByzFL's heat maps do) stands beside it under its own name,
// optimistic.
//
// Thread safety: pure functions; results point into the cells and records they are made from.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/statistics.h"

namespace ostraka::compare {

// A cell that has a result.
struct Done {
  const Cell* cell = nullptr;
  const CellResult* result = nullptr;
  const CellCost* cost = nullptr;
};
// Those of the plan that are done, in its order.
std::vector<Done> DoneCells(const Plan& plan, const Records& records);

// One rule under one attack, at the choice.
struct UnderAttack {
  std::string attack;
  std::vector<Done> runs;    // by seed
  std::vector<double> test;  // accuracy at the end, by seed
  Interval interval;         // of it
  double lowest = 0;         // mean over seeds of the lowest point after the attack began
  double optimistic = 0;     // best step of the mean test curve
};

// One rule in one setting.
struct Line {
  const Cell* cell = nullptr;        // one with the setting, the rule and the choice
  std::string setting;               // KeyOf its setting
  std::size_t choices = 0;           // how many there were to choose from
  double validation_worst = 0;       // what the choice was made by: min over attacks of the mean
  std::vector<UnderAttack> attacks;  // in the grid's order
  // Over the attacks but "none", if there is another one.
  Interval worst;
  std::string worst_attack;
  double optimistic_worst = 0;
  bool complete = false;  // all cells of all choices are done: else the choice may change
};

// A line for each setting and rule, in the plan's order; none for those without a done cell.
std::vector<Line> Select(const Plan& plan, const std::vector<Done>& done);

// What the line says of an attack; null if none of its runs is done.
const UnderAttack* Find(const Line& line, const std::string& attack);
// Every attack of the lines, in the order in which they first appear.
std::vector<std::string> AttacksOf(const std::vector<const Line*>& lines);

// The best of some rules: by mean, with those that cannot be told from it.
struct Winner {
  const Line* line = nullptr;
  std::vector<const Line*> ties;

  // True of the best and of what cannot be told from it.
  bool Has(const Line* other) const;
};
// Of one setting's lines, under one attack: ties are told by paired differences over the seeds.
// REQUIRES: a line that has the attack.
Winner BestUnder(const std::vector<const Line*>& lines, const std::string& attack);
// By the worst attack: ties are those whose intervals overlap the winner's. Lines with cells that
// are not done yet take no part, as their worst may be to come; unless all are such. REQUIRES: a
// line.
Winner BestAtWorst(const std::vector<const Line*>& lines);

}  // namespace ostraka::compare
