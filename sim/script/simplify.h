// Simpler scripts, for `sim shrink` (sim/run/shrink.h).
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "sim/script/script.h"

namespace ostraka::sim {

struct SimplerScript {
  std::string what;  // the change: "half of the deviations"
  Script script;
};
// All scripts one simplification away, coarse changes first: deviations removed, by halves and
// singly; one machine for two; the split by the first members; then the fields of each deviation.
std::vector<SimplerScript> SimplerScripts(const Script& script);

}  // namespace ostraka::sim
