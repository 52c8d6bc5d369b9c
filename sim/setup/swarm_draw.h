// Swarm testing: what a seed does to a swarm is drawn from the seed, too. Every run turns on a few
// of the things that can be turned on, each with drawn parameters, because faults hide behind each
// other: a run with all of them at once would never get to the rare pairs (Groce et al., ISSTA
// 2012).
//
// Within the promise: Byzantine peers and those that crash together are at most t_s of the mode,
// and messages are as timely as SEAL asks (node/protocol/seal/seal.h), but while the network is
// cut; and there at most t_a are Byzantine.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>

#include "sim/setup/options.h"

namespace ostraka::sim {

// The run of `seed`. `base` gives what is not drawn: steps, and with `only_attack` the attack and
// its parameters. CheckOptions of the result is ok if that of `base` is.
SimOptions DrawSwarm(std::uint64_t seed, const SimOptions& base, bool only_attack = false);

}  // namespace ostraka::sim
