// `ostraka sim --report`: one page about one run: who was removed when, what the model lost, the
// same attack on a swarm that checks nothing, and one step as a message sequence.
//
// Thread safety: pure functions, but for the runs that MakeReport makes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/report/step_diagram.h"
#include "sim/run/cluster.h"

namespace ostraka::sim {

// What a run had come to after each block, as the first honest peer saw it.
struct History {
  struct Row {
    std::uint64_t step = 0;
    std::uint32_t honest = 0;  // members
    std::uint32_t byzantine = 0;
    double loss = 0;  // on held-out data; may be no number
  };
  std::vector<Row> rows;
};

struct ReportInput {
  SimOptions options;
  Roster roster;
  SimResult result;
  History history;
  // The same without protection; empty rows: it was not run.
  History unprotected;
  bool same_faults = true;  // false: an unprotected run bears no crash and no cut, so it had none
  std::optional<RecordedStep> step;
};

// The file. REQUIRES: history has a row.
std::string ReportHtml(const ReportInput& input);

struct Report {
  SimResult result;  // of the protected run
  std::string html;
};

// Runs `options`, and again without protection. `step` is drawn; nullopt: the one that removed the
// first. `progress` is called with what begins. InvalidArgument: the options are those of an
// unprotected run, or the run never came to that step; else errors of RunSimulation.
base::StatusOr<Report> MakeReport(const SimOptions& options, std::optional<std::uint64_t> step,
                                  const std::function<void(const std::string&)>& progress);

}  // namespace ostraka::sim
