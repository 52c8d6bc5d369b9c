// A second writing of admissions and returns (docs/protocol/admission.md).
//
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "tests/property/naive_step.h"

namespace ostraka::protocol::naive {

std::size_t SeatsOf(const Manifest& manifest);  // members at most

// Fills the block's `joined`, `candidates`, `invites` and `moderators`. Returns those of `joined`
// for which no seat was kept, by key. REQUIRES: all passes are over.
std::vector<PeerId> Admit(const Step& step, Block& block);

}  // namespace ostraka::protocol::naive
