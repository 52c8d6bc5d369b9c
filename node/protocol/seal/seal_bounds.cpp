#include "node/protocol/seal/seal_bounds.h"

#include <algorithm>

#include "node/protocol/seal/seal_clock.h"

namespace ostraka::protocol {

base::Duration DecisionBound(base::Duration delta, std::uint32_t faults) {
  base::Duration bound = delta * 2 + base::Duration{delta.ns * 7 / 4};
  for (std::uint32_t k = 1; k <= faults; ++k) bound = bound + IterationLength(delta, k);
  return bound + StepLength(delta, faults + 1) * 3 + delta * 3;
}

base::Duration HealingBound(base::Duration delta, std::uint32_t reached, std::uint32_t faults) {
  // One step until lost messages are repeated, one iteration that is out of step, and then the
  // bound of a timely network. If no iteration has begun, the gate comes first: CLOSEs, and the
  // time from there to STATUS.
  const std::uint32_t first = std::max(reached, 1U);
  base::Duration bound = delta * 2 + StepLength(delta, first);
  if (reached == 0) bound = bound + delta * 4;
  for (std::uint32_t k = first; k <= first + faults + 1; ++k) {
    bound = bound + IterationLength(delta, k);
  }
  return bound + delta * 3;
}

}  // namespace ostraka::protocol
