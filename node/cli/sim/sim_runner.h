// Runs `ostraka sim`: runs seeds over cores, reports results, keeps failures.
//
// Thread safety: free functions; RunOnCores starts its own threads and joins them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
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
};

// The options of the run for one seed of `work`.
sim::SimOptions OptionsFor(const SimWork& work, std::uint64_t seed);

// Runs all seeds, each on one thread. With swarm_test one seed in twenty runs twice and must give
// equal results. The result is independent of the number of threads. `progress` is called after
// each seed, by one thread at a time.
base::StatusOr<sim::SeedsResult> RunOnCores(const SimWork& work,
                                            const std::function<void(std::uint64_t)>& progress);

// {"ok","seeds","steps","events","trace_digest","removed","returns",...}; docs/json.md. Each
// failure has "seed", "checker" and "message", and the keys of ReplayOf (bundle.h), which writes a
// bundle to the current folder.
base::StatusOr<nlohmann::json> JsonOf(const SimWork& work, const sim::SeedsResult& result);

// Joins results for disjoint ranges of equal work: counts are summed, means are weighted by seeds.
// InvalidArgument if a seed is in two results.
base::StatusOr<nlohmann::json> MergeResults(const std::vector<nlohmann::json>& results);

void PrintSimText(const nlohmann::json& result);

}  // namespace ostraka::cli
