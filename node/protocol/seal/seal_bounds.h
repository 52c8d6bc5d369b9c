// The longest time that a seal may take (docs/seal.md, 6). tests/property/protocol_seal_test.cpp
// asserts both bounds for single seals; the simulator's `recovery` checker uses them as terms of
// the bound of a step of training. The formulas repeat the lengths of seal_clock.h and seal_gate.h,
// from which they are derived in docs/seal.md: change both.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "node/base/time.h"

namespace ostraka::protocol {

// From the last honest ECHO to the last honest decision, in a timely network with `faults` unmuted
// members that lie or are silent: 15/4 Delta to STATUS, an iteration for each of them, three steps
// of the next one, and 3 Delta for what the decision names.
base::Duration DecisionBound(base::Duration delta, std::uint32_t faults);

// The bound after a time without synchrony, counted from its end or from the last honest ECHO,
// whichever is later. `reached` is the furthest iteration of an honest member at that end (0: none
// was in the slow path).
base::Duration HealingBound(base::Duration delta, std::uint32_t reached, std::uint32_t faults);

}  // namespace ostraka::protocol
