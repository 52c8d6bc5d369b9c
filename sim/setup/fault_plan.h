// The faults of one run: kills, restarts and cut links, drawn from its seed and given to the
// simulator before it starts; and who leaves, which is none.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node/base/rng.h"
#include "node/base/time.h"
#include "sim/engine/checker.h"
#include "sim/engine/simulator.h"
#include "sim/setup/departures.h"
#include "sim/setup/options.h"

namespace ostraka::sim {

// Only honest peers crash; restarts of an adversary are up to its attack.
struct FaultPlan {
  struct Kill {
    std::uint32_t peer = 0;
    base::Time down;
    base::Time up;
    bool lose_disk = false;
  };
  std::vector<Kill> kills;
  std::vector<std::uint32_t> first_half;  // one side of a cut; empty without one
  std::optional<base::Time> over;         // when the last fault ends; nullopt: there is none
  base::Duration hold;                    // the longest that a link delays a message
  Departures departures;
};

FaultPlan DrawFaults(base::Rng rng, const SimOptions& options, const Roster& roster);

// The honest members of the genesis that are slower than the run waits (SimWaits::stragglers).
std::vector<std::uint32_t> StragglersOf(const SimOptions& options, const Roster& roster);

// The roster, with the peers marked that a fault hits, and the stragglers.
Roster WithUnlucky(Roster roster, const SimOptions& options, const FaultPlan& plan);

// `rng` is the run's: flaky links draw from forks of it.
void ScheduleFaults(const FaultPlan& plan, const SimOptions& options, const base::Rng& rng,
                    Simulator& simulator);

}  // namespace ostraka::sim
