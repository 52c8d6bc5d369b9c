// The axes of a comparison: lists of values, whose product is its cells.
//
// Thread safety: plain values and pure functions, but for LoadSources, which reads files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "node/train/data_source.h"
#include "sim/compare/cells/cell.h"

namespace ostraka::compare {

struct Grid {
  std::string name = "comparison";
  std::vector<std::string> data = {"digits"};  // sources: "digits", "mnist:DIR", ...
  std::vector<std::string> model = {"softmax"};
  std::vector<std::uint64_t> hidden = {64};
  std::vector<std::string> partition = {"shared"};
  std::vector<std::uint64_t> peers = {16};
  std::vector<std::uint64_t> byzantine = {3};
  std::vector<std::uint64_t> tolerate;  // empty: the number of Byzantine workers
  std::vector<std::string> rules;       // each with alternatives: "centered_clip:tau=0.1|1+nnm"
  std::vector<std::string> attacks = {"none"};
  std::uint64_t attack_from = 0;
  std::vector<std::uint64_t> seeds = {0, 1, 2, 3, 4};
  std::uint64_t steps = 100;
  std::uint64_t batch_size = 8;
  std::uint64_t evaluate_every = 10;
  std::string optimizer = "sgd";                 // or "adamw" (Cell::optimizer)
  std::vector<std::uint64_t> inner_steps = {1};  // above 1 with adamw only
  std::vector<double> outer_rate = {0.8};        // where inner_steps is above 1
  std::vector<double> outer_momentum = {0.8};
  std::string score = "accuracy";  // or "loss": what rules are ranked by
  std::vector<double> learning_rate = {0.1};
  std::vector<std::string> schedule = {"linear"};
  std::uint64_t warmup_steps = 0;
  std::vector<double> momentum = {0};
  std::vector<double> worker_momentum = {0};
  std::vector<double> weight_decay = {0};
  bool study = false;  // per-step data for every server cell
};

// A grid whose every cell was checked, in the order of tables.
struct Plan {
  Grid grid;
  std::map<std::string, train::DataSource> sources;  // by the names that cells use
  std::vector<Cell> cells;  // distinct ids; the cells of a rule are adjacent
  // Combinations that were left out, one line each with their number: the protocol has one data set
  // for all workers and its own schedule.
  std::vector<std::string> left_out;
};

// The alternatives of "centered_clip:tau=0.1|1+nnm", in the order written. InvalidArgument: an
// empty alternative.
base::StatusOr<std::vector<RuleText>> ExpandRule(const std::string& text);

// Checks everything before any cell runs. InvalidArgument, FailedPrecondition (an f too large for a
// rule, a batch larger than the data, workers without data) or NotFound (data that do not exist),
// in one line that says what to do.
base::StatusOr<Plan> MakePlan(const Grid& grid);

}  // namespace ostraka::compare
