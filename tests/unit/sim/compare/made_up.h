// Plans with made-up results, for tests that process results.
#pragma once

#include <functional>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"

namespace ostraka::compare {

struct MadeUpScores {
  double validation = 0;
  double test = 0;
  double best = 0;  // of the test curve, in its middle
};

inline Plan MadeUpPlan(const std::function<void(Grid&)>& change) {
  Grid grid;
  grid.rules = {"mean"};
  grid.peers = {9};
  grid.byzantine = {2};
  grid.seeds = {0, 1, 2, 3};
  change(grid);
  return MakePlan(grid).value();
}

inline CellResult MadeUpResult(const Cell& cell, const MadeUpScores& scores) {
  CellResult result;
  result.curve = {{0, 0.1, 2.3, 0.1, 2.3},
                  {cell.steps / 2, scores.validation, 0.7, std::max(scores.best, scores.test), 0.7},
                  {cell.steps, scores.validation, 0.5, scores.test, 0.5}};
  result.bytes = 1000;
  if (cell.is_protocol()) {
    result.protocol =
        ProtocolFacts{{{20, true, "verdict"}, {25, true, "verdict"}}, 15, cell.steps, 0};
  }
  return result;
}

inline Records MadeUpRecords(const Plan& plan,
                             const std::function<MadeUpScores(const Cell&)>& score) {
  Records records;
  for (const Cell& cell : plan.cells) {
    Record& record = records[IdOf(cell)];
    record.result = MadeUpResult(cell, score(cell));
    record.cost = {1.25, 1 << 20};
  }
  return records;
}

}  // namespace ostraka::compare
