// Cases: accusations, namings and convictions, and the votes on them (docs/protocol/checks.md,
// "Cases").
//
// Thread safety: pure functions; those over a Step add to its losses.
#pragma once

#include <vector>

#include "tests/property/naive_step.h"

namespace ostraka::protocol::naive {

using wire::Case;

// The open cases of the last block with the votes of this step.
std::vector<Case> CountVotes(const Step& step);
// Passes 2 and 3.
void JudgeCases(Step& step, const std::vector<Case>& counted);
// Pass 4.
void JudgeOwers(Step& step);
// The cases that are open after the block. REQUIRES: all passes are over.
std::vector<Case> OpenAfter(const Step& step, const std::vector<Case>& counted);
// The owners that must show `worker`'s parts of the last block's step if it is convicted.
std::vector<wire::Covering> CoveringOf(const Step& step, const PeerId& worker);

}  // namespace ostraka::protocol::naive
