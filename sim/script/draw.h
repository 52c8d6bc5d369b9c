// Scripts that nobody thought of: drawn, and changed a little.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "node/base/rng.h"
#include "sim/script/script.h"

namespace ostraka::sim {

// Where a script is to be played.
struct Stage {
  std::uint32_t honest = 0;
  std::uint32_t colluders = 0;
  std::uint64_t first_step = 0;  // deviations of one step are of this one or one of the two after
};

inline constexpr std::size_t kMostDeviations = 8;

// 1 to kMostDeviations deviations, each from a seed of its own.
Script DrawScript(const base::Rng& rng, const Stage& stage);

// `script` with one to three things changed: a deviation more, less or another, or one word of one,
// the split, or how many machines there are.
Script Mutate(Script script, base::Rng rng, const Stage& stage);

}  // namespace ostraka::sim
