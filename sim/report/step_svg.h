// A recorded step as a drawing.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "sim/report/step_diagram.h"

namespace ostraka::sim {

// Draws a lifeline for each peer from the top down, a band for each phase, an arrow for each
// message of the step's offenders, and a dot where another peer first sends a message of a kind.
// Offenders are the peers
// that the step banned or dropped; if there are none, the Byzantine members; if there are none, the
// first peer, as an example. If there are more than `most` peers, it draws the offenders and the
// first others. Long waits are shortened; times stand at the left, and what honest peers observed
// at the right. Arrows and dots have tooltips.
std::string StepSvg(const RecordedStep& step, const Roster& roster, std::size_t most = 8);

// The text below the drawing.
std::string StepCaption(const RecordedStep& step, const Roster& roster);

}  // namespace ostraka::sim
