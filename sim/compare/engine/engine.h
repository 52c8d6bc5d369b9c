// Runs the cells of a plan that are not in the store yet, on all cores.
//
// Promise: whatever kills it, running the same again goes on where it stopped: no finished cell is
// run twice, none is lost, and the tables come out the same bytes.
//
// Thread safety: one owner; no thread may run in the process (sim/compare/engine/worker_pool.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "node/base/status.h"
#include "sim/compare/engine/cell_store.h"
#include "sim/compare/plan/grid.h"

namespace ostraka::compare {

struct Shard {
  std::size_t index = 1;  // 1..count
  std::size_t count = 1;
};

struct ProgressReport {
  std::size_t done = 0;  // of `total`, in the store, failed ones included
  std::size_t failed = 0;
  std::size_t total = 0;
  double seconds_left = 0;  // by the mean time of cells of the same rule and model so far
};

struct EngineOptions {
  std::string folder;  // --out
  Shard shard;
  std::size_t workers = 1;
  bool retry_failed = false;
  std::function<void(const ProgressReport&)> progress;  // may be empty
};

// The cells that this shard runs: every count-th.
std::vector<const Cell*> CellsOf(const Plan& plan, const Shard& shard);

// Appends to `store`. A cell that fails is a record; an error is of the engine. Unavailable: too
// little disk space (before the first cell), or a store that cannot be written.
base::Status RunCells(const Plan& plan, const EngineOptions& options, CellStore& store);

// Bytes that a plan's results may take on disk, roughly.
std::uint64_t DiskNeed(const Plan& plan, std::size_t cell_count);

// Seconds that the cells would take one after another: runs a few steps of one cell of each rule,
// model and number of Byzantine workers.
base::StatusOr<double> EstimateSeconds(const Plan& plan, const std::vector<const Cell*>& cells);

}  // namespace ostraka::compare
