// Runs the cells of a plan that are not in the store yet, on all cores.
//
// Promises:
//   E1  After any interruption, the same command continues: it repeats no finished cell and loses
//       none.
//   E2  The tables come out with equal bytes, however often the run was interrupted.
//
// May not know: what a cell computes.
//
// Memory: the store's records; one line from each worker.
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
  std::size_t done = 0;  // of `total`; in the store, failed cells included
  std::size_t failed = 0;
  std::size_t total = 0;
  double seconds_left = 0;  // from the mean time of finished cells with the same rule and model
};

struct EngineOptions {
  std::string folder;  // the folder of --out
  Shard shard;
  std::size_t workers = 1;
  bool retry_failed = false;
  std::function<void(const ProgressReport&)> progress;  // may be empty
};

// The cells of this shard: every count-th one.
std::vector<const Cell*> CellsOf(const Plan& plan, const Shard& shard);

// Appends to `store`. A failed cell is a record; an error is one of the engine. Unavailable: too
// little disk space (before the first cell), or the store cannot be written.
base::Status RunCells(const Plan& plan, const EngineOptions& options, CellStore& store);

// Approximate bytes that a plan's results take on disk.
std::uint64_t DiskNeed(const Plan& plan, std::size_t cell_count);

// Seconds until so many workers, each of which has to start, would have run the cells. Runs a few
// steps of one cell for each rule, model and number of Byzantine workers.
base::StatusOr<double> EstimateSeconds(const Plan& plan, const std::vector<const Cell*>& cells,
                                       std::size_t workers);

}  // namespace ostraka::compare
