#include "sim/compare/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "node/os/durable_file.h"
#include "sim/compare/cells/runner.h"
#include "sim/compare/cells/schedule.h"
#include "sim/compare/engine/worker_pool.h"

namespace ostraka::compare {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBytesAPoint = 100;
constexpr std::uint64_t kBytesACell = 4096;
constexpr std::uint64_t kStudyColumns = 10;

// Cells of one kind take about equally long.
std::string KindOf(const Cell& cell) {
  return cell.rule.pipeline + " " + cell.model + " " + std::to_string(cell.hidden) + " " +
         cell.data + " " + std::to_string(cell.peers) + " " + std::to_string(cell.byzantine) + " " +
         std::to_string(cell.inner_steps);
}

base::Status WriteStudy(const std::string& folder, const Cell& cell, const Study& study) {
  const std::string path = folder + "/study/" + IdOf(cell).Short() + ".npz";
  const base::Bytes bytes = NpzOf(study);
  const base::ByteView pieces[] = {bytes};
  return os::WriteDurably(path, pieces, os::IfExists::kReplace);
}

// Runs in a worker; returns one line of JSON.
std::string RunOne(const Cell& cell, bool wants_study, const std::string& folder,
                   CellRunner& runner) {
  Study study;
  const bool keep = wants_study && !cell.is_protocol();
  const auto result = runner.Run(cell, keep ? &study : nullptr);
  base::Status status = result.status();
  if (status.ok() && keep) status = WriteStudy(folder, cell, study);
  if (!status.ok()) return json{{"error", base::MessageOf(status)}}.dump();
  return json{{"result", JsonOf(*result)}}.dump();
}

// A cell's trainer, which a process makes once and cells share.
std::string TrainerOf(const Cell& cell) {
  return cell.data + " " + cell.model + " " + std::to_string(cell.hidden) + " " +
         std::to_string(cell.batch_size) + (cell.is_exact() ? " exact" : "");
}

// Makes the trainer of `cell` and takes a few steps with it, so that what happens once a process
// (in libtorch over a second) counts for no cell. Each trainer once; `warmed` has those.
base::Status WarmUp(const Cell& cell, std::set<std::string>& warmed, CellRunner& runner) {
  if (!warmed.insert(TrainerOf(cell)).second) return base::OkStatus();
  Cell warm = cell;
  warm.rule = {"mean", "mean"};
  warm.attack = "none";
  warm.inner_steps = 1;
  warm.steps = std::min(cell.steps, kSettleSteps + 1);
  warm.attack_from = warm.warmup_steps = 0;
  return runner.Run(warm, nullptr).status();
}

base::StatusOr<Record> RecordOf(const TaskDone& done) {
  Record record;
  record.cost = done.cost;
  if (done.died) {
    record.error = done.text;
    return record;
  }
  const json line = json::parse(done.text, nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded()) return base::Internal("a worker wrote invalid JSON");
  if (line.contains("error")) {
    record.error = line["error"];
  } else {
    ASSIGN_OR_RETURN(record.result, ResultOf(line["result"]));
  }
  return record;
}

// Predicts the remaining time from the mean times of finished cells.
class Clock {
 public:
  Clock(const std::vector<const Cell*>& todo, std::size_t workers) : workers_(workers) {
    for (const Cell* cell : todo) ++left_[KindOf(*cell)];
  }
  void Ended(const Cell& cell, double seconds) {
    const std::string kind = KindOf(cell);
    --left_[kind];
    Add(seconds, spent_[kind]);
    Add(seconds, all_);
  }
  double SecondsLeft() const {
    double left = 0;
    for (const auto& [kind, count] : left_) {
      const auto known = spent_.find(kind);
      const Spent& mean = known == spent_.end() ? all_ : known->second;
      if (mean.count > 0) left += static_cast<double>(count) * mean.seconds / mean.count;
    }
    return left / static_cast<double>(workers_);
  }

 private:
  struct Spent {
    double seconds = 0;
    double count = 0;
  };
  static void Add(double seconds, Spent& spent) {
    spent.seconds += seconds;
    ++spent.count;
  }
  std::size_t workers_;
  std::map<std::string, std::size_t> left_;
  std::map<std::string, Spent> spent_;
  Spent all_;
};

base::Status CheckDisk(const Plan& plan, std::size_t cell_count, const std::string& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error)
    return base::Unavailable("cannot read the free space of " + folder + ": " + error.message());
  const std::uint64_t need = DiskNeed(plan, cell_count);
  if (space.available >= need) return base::OkStatus();
  return base::Unavailable("the results may take " + std::to_string(need >> 20) + " MiB, and " +
                           folder + " has " + std::to_string(space.available >> 20) +
                           " MiB free: free some space or name another --out");
}

base::Status PrepareStudy(const Plan& plan, const std::string& folder) {
  if (!plan.grid.study) return base::OkStatus();
  std::error_code error;
  std::filesystem::create_directories(folder + "/study", error);
  if (!error) return base::OkStatus();
  return base::Unavailable("cannot create the folder " + folder + "/study: " + error.message());
}

// The first cell of each kind, then the others. So the remaining time of every kind can be
// predicted soon after the start.
std::vector<const Cell*> OneOfEachKindFirst(const std::vector<const Cell*>& cells) {
  std::vector<const Cell*> ordered;
  std::vector<const Cell*> others;
  std::set<std::string> met;
  for (const Cell* cell : cells) {
    (met.insert(KindOf(*cell)).second ? ordered : others).push_back(cell);
  }
  ordered.insert(ordered.end(), others.begin(), others.end());
  return ordered;
}

// The cells that the store lacks. `report` gets the number of those that it has.
std::vector<const Cell*> CellsToRun(const Plan& plan, const EngineOptions& options,
                                    const Records& records, ProgressReport& report) {
  const std::vector<const Cell*> cells = CellsOf(plan, options.shard);
  report.total = cells.size();
  std::vector<const Cell*> todo;
  for (const Cell* cell : cells) {
    const auto known = records.find(IdOf(*cell));
    const bool failed = known != records.end() && !known->second.result;
    if (known == records.end() || (failed && options.retry_failed)) {
      todo.push_back(cell);
      continue;
    }
    ++report.done;
    if (failed) ++report.failed;
  }
  return OneOfEachKindFirst(todo);
}

}  // namespace

std::vector<const Cell*> CellsOf(const Plan& plan, const Shard& shard) {
  std::vector<const Cell*> cells;
  for (std::size_t i = shard.index - 1; i < plan.cells.size(); i += shard.count) {
    cells.push_back(&plan.cells[i]);
  }
  return cells;
}

std::uint64_t DiskNeed(const Plan& plan, std::size_t cell_count) {
  const Grid& grid = plan.grid;
  const std::uint64_t points = grid.steps / grid.evaluate_every + 2;
  // The store, results.json and the report each hold every curve once.
  std::uint64_t each = kBytesACell + 3 * points * kBytesAPoint;
  if (grid.study) each += grid.steps * kStudyColumns * sizeof(double) + kBytesACell;
  return (std::uint64_t{1} << 20) + cell_count * each;
}

base::Status RunCells(const Plan& plan, const EngineOptions& options, CellStore& store) {
  ProgressReport report;
  const std::vector<const Cell*> todo = CellsToRun(plan, options, store.records(), report);
  if (todo.empty()) return base::OkStatus();
  RETURN_IF_ERROR(CheckDisk(plan, todo.size(), options.folder));
  RETURN_IF_ERROR(PrepareStudy(plan, options.folder));
  Clock clock(todo, options.workers);
  CellRunner runner(plan.sources);  // a copy for each worker, as `warmed`
  std::set<std::string> warmed;
  PoolOptions pool;
  pool.workers = options.workers;
  pool.prepare = [&](std::size_t task) {
    // What is wrong with data or a model is wrong in the cell too, which reports it.
    WarmUp(*todo[task], warmed, runner).IgnoreError();
  };
  pool.work = [&](std::size_t task) {
    return RunOne(*todo[task], plan.grid.study, options.folder, runner);
  };
  pool.done = [&](const TaskDone& done) -> base::Status {
    ASSIGN_OR_RETURN(const Record record, RecordOf(done));
    RETURN_IF_ERROR(store.Append(IdOf(*todo[done.task]), record));
    clock.Ended(*todo[done.task], record.cost.seconds);
    ++report.done;
    if (!record.result) ++report.failed;
    report.seconds_left = clock.SecondsLeft();
    if (options.progress) options.progress(report);
    return base::OkStatus();
  };
  return RunTasks(todo.size(), pool);
}

base::StatusOr<double> EstimateSeconds(const Plan& plan, const std::vector<const Cell*>& cells,
                                       std::size_t workers) {
  constexpr std::uint64_t kTrialSteps = 20;
  constexpr std::uint64_t kTrialExchanges = 4;
  std::map<std::string, std::pair<const Cell*, std::size_t>> kinds;
  for (const Cell* cell : cells) {
    auto& [example, count] = kinds[KindOf(*cell)];
    // The last cell is the example and not the first, which has no attack: an attack costs time.
    example = cell;
    ++count;
  }
  const auto since = [](std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  CellRunner runner(plan.sources);
  std::set<std::string> warmed;
  double start = 0;  // of each worker
  double seconds = 0;
  for (const auto& [kind, kind_cells] : kinds) {
    Cell trial = *kind_cells.first;
    const auto whole = static_cast<double>(trial.steps);
    const std::uint64_t exchanges =
        std::max<std::uint64_t>(kTrialSteps / trial.inner_steps, kTrialExchanges);
    trial.steps = std::min(trial.steps, exchanges * trial.inner_steps);
    trial.attack_from = trial.warmup_steps = 0;
    const auto warming = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(WarmUp(trial, warmed, runner));
    start += since(warming);
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(runner.Run(trial, nullptr).status());
    seconds += since(begin) * whole / static_cast<double>(trial.steps) *
               static_cast<double>(kind_cells.second);
  }
  return start + seconds / static_cast<double>(workers);
}

}  // namespace ostraka::compare
