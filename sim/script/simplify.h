// Scripts that say less: what `sim shrink` tries (sim/run/shrink.h).
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "sim/script/script.h"

namespace ostraka::sim {

struct SimplerScript {
  std::string what;  // was done: "half of the deviations"
  Script script;
};
// All that are one simplification away, coarse ones first: deviations left out, by halves and one
// by one; one machine for two; the split by the first members; then each deviation's words.
std::vector<SimplerScript> SimplerScripts(const Script& script);

}  // namespace ostraka::sim
