// report.html: one file that shows a comparison and needs no network.
//
// Thread safety: pure function.
#pragma once

#include <string>
#include <vector>

#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"
#include "sim/compare/report/figures.h"
#include "sim/compare/report/selection.h"

namespace ostraka::compare {

struct ReportInput {
  const Plan& plan;
  const Records& records;
  const Maker& maker;
  const std::vector<Line>& lines;
  const std::vector<Figure>& figures;
  const std::vector<std::string>& failed;  // one line each
  std::string processor;
};

std::string ReportHtml(const ReportInput& input);

}  // namespace ostraka::compare
