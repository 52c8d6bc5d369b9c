// Random scripts, and random mutations of a script.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "node/base/rng.h"
#include "sim/script/script.h"

namespace ostraka::sim {

// The run in which a script is played.
struct Stage {
  std::uint32_t honest = 0;
  std::uint32_t colluders = 0;
  std::uint64_t first_step = 0;  // a deviation bound to a step is in this one or the next two
};

inline constexpr std::size_t kMostDeviations = 8;

// Draws 1 to kMostDeviations deviations, each from its own seed.
Script DrawScript(const base::Rng& rng, const Stage& stage);

// `script` with one to three changes: a deviation added, removed, replaced or changed in one field,
// another split, or another mode.
Script Mutate(Script script, base::Rng rng, const Stage& stage);

}  // namespace ostraka::sim
