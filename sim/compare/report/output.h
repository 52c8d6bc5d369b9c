// All files of a comparison in its folder, each written completely or not at all.
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
  std::vector<std::string> failed;  // one line each: the cell and the reason
  std::string text;                 // a table for a terminal
  std::string winners_json;         // the text in results.json
};

// results.csv, results.json, timings.csv, selection.csv, table.tex, table.md, report.html and
// figures/*.svg. Unavailable: the folder cannot be written.
base::StatusOr<Summary> WriteOutputs(const Plan& plan, const Records& records, const Maker& maker,
                                     const std::string& folder);

// Unavailable if it cannot be written; the text says what to do.
base::Status WriteText(const std::string& path, const std::string& text);

}  // namespace ostraka::compare
