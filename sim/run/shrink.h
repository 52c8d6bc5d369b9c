// Makes a failure smaller: options that fail the same checker with less in them.
//
// Greedy, from the coarse to the fine: whole faults off, then fewer peers and steps, then single
// kills left out (SimOptions::spared_kills), again and again until nothing smaller fails. Every
// candidate is a run of its own, so the result is a replay like any other.
//
// Thread safety: as RunSimulation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/run/cluster.h"

namespace ostraka::sim {

struct Smaller {
  std::string what;  // was done: "steps 40 -> 20"
  SimOptions options;
};
// Everything that is one simplification away, coarse ones first; only what CheckOptions takes.
std::vector<Smaller> Simplifications(const SimOptions& options);

struct ShrinkResult {
  SimOptions options;  // fails the same checker
  Failure failure;
  std::uint64_t runs = 0;
  std::vector<std::string> applied;  // in order
};

// FailedPrecondition if `options` fail no checker. At most `max_runs` runs. `progress` hears of
// every simplification that still fails.
base::StatusOr<ShrinkResult> Shrink(const SimOptions& options, std::uint64_t max_runs,
                                    const std::function<void(const std::string&)>& progress = {});

}  // namespace ostraka::sim
