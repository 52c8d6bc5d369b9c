// Everything that a comparison leaves in its folder, written whole or not at all.
//
// Thread safety: one writer a folder.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"

namespace ostraka::compare {

struct Summary {
  std::size_t done = 0;             // cells of the plan that have a result
  std::vector<std::string> failed;  // one line each: the cell and why
  std::string text;                 // a table for a terminal
  std::string winners_json;         // as in results.json
};

// results.csv, results.json, timings.csv, selection.csv, table.tex, table.md, report.html and
// figures/*.svg. Unavailable: the folder cannot be written.
base::StatusOr<Summary> WriteOutputs(const Plan& plan, const Records& records, const Maker& maker,
                                     const std::string& folder);

// Unavailable, with what to do, if it cannot be written.
base::Status WriteText(const std::string& path, const std::string& text);

}  // namespace ostraka::compare
