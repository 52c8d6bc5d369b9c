// `ostraka sim --report`: one page about one run: when members were removed and why, the loss, the
// same attack on a swarm that checks nothing, and one step as a message sequence.
//
// Thread safety: pure functions, but for the runs that MakeReport makes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "node/base/status.h"
#include "sim/report/history.h"
#include "sim/report/step_diagram.h"
#include "sim/run/cluster.h"

namespace ostraka::sim {

struct ReportInput {
  SimOptions options;
  Roster roster;
  SimResult result;
  History history;
  // The history without protection; empty rows: there was no such run.
  History unprotected;
  // False: the unprotected run had no crash and no cut, because it bears none.
  bool same_faults = true;
  std::optional<RecordedStep> step;
};

// The page as HTML. REQUIRES: history has a row.
std::string ReportHtml(const ReportInput& input);

struct Report {
  RunAndHistory run;  // the protected one
  std::string html;
};

// Runs `options`, and again without protection. Draws step `step`; nullopt: the first step that
// removed a member. Calls `progress` at the start of each part. InvalidArgument: the options are
// those of an unprotected run, or the run never came to that step; else errors of RunSimulation.
base::StatusOr<Report> MakeReport(const SimOptions& options, std::optional<std::uint64_t> step,
                                  const std::function<void(const std::string&)>& progress);

}  // namespace ostraka::sim
