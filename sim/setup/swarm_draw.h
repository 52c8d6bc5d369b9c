// Swarm testing: the seed of a run also draws the swarm and its faults. Each run turns on a few of
// the possible faults, with drawn parameters, because faults hide each other: a run with all of
// them would never reach the rare pairs (Groce et al., ISSTA 2012).
//
// Promises:
//   D1  Byzantine peers and peers that crash together are at most t_s of the mode.
//   D2  Messages are as timely as SEAL requires (node/protocol/seal/seal.h), except during a cut;
//       and a run with a cut has at most t_a Byzantine peers.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "sim/setup/options.h"

namespace ostraka::sim {

// The run of `seed`. `base` gives the values that are not drawn: steps, and with `only_attack` the
// attack and its parameters. With `base.exact` all runs are of profile exact/1, else one in four;
// with `base.model` gpt all train it, else one in eight of the small exact ones.
// CheckOptions of the result is ok if that of `base` is.
SimOptions DrawSwarm(std::uint64_t seed, const SimOptions& base, bool only_attack = false);

}  // namespace ostraka::sim
