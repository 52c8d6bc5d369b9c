// Peers by number. A reason names peers by their ids, as nodes do; a reader of a simulated run
// knows them by number.
//
// Thread safety: pure function.
#pragma once

#include <string>

#include "sim/engine/checker.h"

namespace ostraka::sim {

// `text` with "peer N" in place of each id of the roster, whole or short.
std::string WithPeerNumbers(const std::string& text, const Roster& roster);

}  // namespace ostraka::sim
