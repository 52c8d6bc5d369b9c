// What `ostraka sim` does with seeds: run them over cores, say what came of it, keep failures.
//
// Thread safety: free functions; RunOnCores starts threads of its own and joins them.
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
  std::uint64_t last = 0;  // included
};

struct SimWork {
  sim::SimOptions options;
  SeedRange seeds;
  bool swarm_test = false;   // draw the rest of the options from each seed
  bool only_attack = false;  // but for the attack
  std::uint32_t threads = 1;
};

// The run of one of its seeds.
sim::SimOptions OptionsFor(const SimWork& work, std::uint64_t seed);

// All seeds, each on one thread; with swarm_test one in twenty runs twice and must be equal. The
// result is that of one thread. `progress` is called after each, by one thread at a time.
base::StatusOr<sim::SeedsResult> RunOnCores(const SimWork& work,
                                            const std::function<void(std::uint64_t)>& progress);

// {"ok","seeds","steps","events","trace_digest","removed","returns",...}; docs/json.md. Failures
// have "seed", "checker", "message" and "replay", and a bundle each, written to this folder.
base::StatusOr<nlohmann::json> JsonOf(const SimWork& work, const sim::SeedsResult& result);

// A folder ostraka-sim-seed-N with options.replay, events.txt (the last ones) and sequence.mmd.
// Returns its path. Runs the seed again to see it.
base::StatusOr<std::string> WriteBundle(const sim::SimOptions& options);

// Results of ranges of one kind of work, joined: counts are sums, means are weighted by seeds.
// InvalidArgument if a seed is in two of them.
base::StatusOr<nlohmann::json> MergeResults(const std::vector<nlohmann::json>& results);

void PrintSimText(const nlohmann::json& result);

}  // namespace ostraka::cli
