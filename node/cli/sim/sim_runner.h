// Runs `ostraka sim`: runs seeds over cores, reports results, keeps failures.
//
// Thread safety: free functions; RunOnCores starts its own threads and joins them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/run/seeds.h"

namespace ostraka::cli {

struct SeedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // inclusive
};

struct SimWork {
  sim::SimOptions options;
  SeedRange seeds;
  bool swarm_test = false;   // draw all options but the steps from each seed
  bool only_attack = false;  // with swarm_test: keep the attack of `options`
  std::uint32_t threads = 1;
  std::string command;  // the command of this work but for its seeds
};

// The options of the run for one seed of `work`.
sim::SimOptions OptionsFor(const SimWork& work, std::uint64_t seed);

// What a sweep has, ended or not.
struct Sweep {
  // Of the seeds that ended before the first one that did not. Independent of the number of
  // threads.
  sim::SeedsResult result;
  // The first seed that is not in `result`, if the sweep was stopped.
  std::optional<std::uint64_t> go_on_from;
  // Failed runs of later seeds. They are not in `result`, and fail again when the sweep goes on.
  std::vector<sim::SimResult> failed_ahead;
};

// Runs all seeds, each on one thread. With swarm_test one seed in twenty runs twice and must give
// equal results. `progress` is called after each seed, by one thread at a time. If `stop`, which
// any thread calls, says true, the runs in progress are given up.
base::StatusOr<Sweep> RunOnCores(const SimWork& work, const std::function<bool()>& stop,
                                 const std::function<void(std::uint64_t)>& progress);

// {"ok","seeds","steps","events","trace_digest","banned","dropped",...}; docs/json.md. Each
// failure has "seed", "checker" and "message", and the keys of ReplayOf (bundle.h), which writes a
// bundle to the current folder.
base::StatusOr<nlohmann::json> JsonOf(const SimWork& work, const Sweep& sweep);

// Joins results for disjoint ranges of equal work: counts are summed, means are weighted by seeds.
// InvalidArgument if a seed is in two results. A sweep that was stopped joins the one that went on.
base::StatusOr<nlohmann::json> MergeResults(const std::vector<nlohmann::json>& results);

void PrintSimText(const nlohmann::json& result);

}  // namespace ostraka::cli
