// Makes a failure smaller: finds options with fewer faults, peers and steps that fail the same
// checker.
//
// Greedy, from coarse to fine: drops whole faults, then peers and steps, then single kills
// (SimOptions::spared_kills), until nothing smaller fails. Every candidate is a run of its own, so
// the result is a replay like any other.
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
  std::string what;  // the change, such as "steps 40 -> 20"
  SimOptions options;
};
// All options that are one simplification away and pass CheckOptions, coarse ones first.
std::vector<Smaller> Simplifications(const SimOptions& options);

struct ShrinkResult {
  SimOptions options;  // fails the same checker
  Failure failure;
  std::uint64_t runs = 0;
  std::vector<std::string> applied;  // in order
};

// FailedPrecondition if `options` fail no checker. Makes at most `max_runs` runs. Calls `progress`
// for every simplification that still fails.
base::StatusOr<ShrinkResult> Shrink(const SimOptions& options, std::uint64_t max_runs,
                                    const std::function<void(const std::string&)>& progress = {});

}  // namespace ostraka::sim
