// How long a seal may take (docs/seal.md, 6). Asserted by tests/property/protocol_seal_test.cpp for
// seals alone and, as terms of a step's bound, by the simulator's `recovery` checker.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "node/base/time.h"

namespace ostraka::protocol {

// When the last honest member decides at the latest, from the last honest ECHO, in a timely network
// with `faults` members awake that lie or are silent.
base::Duration DecisionBound(base::Duration delta, std::uint32_t faults);

// The same after a time without synchrony, from its end or the last honest ECHO, if the honest
// member that had come furthest was in iteration `reached` then (0: none was in the slow path).
base::Duration HealingBound(base::Duration delta, std::uint32_t reached, std::uint32_t faults);

}  // namespace ostraka::protocol
