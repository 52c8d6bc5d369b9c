// What made a result, beside the cell: the code and the machine's arithmetic.
//
// A result is equal by bits on machines of one profile and may differ between profiles: libtorch
// and its BLAS round as the processor's instructions suggest. So the profile has, besides names for
// people, a fingerprint of what a gradient of each model comes to here. (Aggregation is the same
// bits everywhere.) Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::compare {

// "libtorch 1.13.1, numerics 0a1b2c3d4e5f6071".
// Loads the trainer module; errors as train::MakeTrainer. Runs in a process of its own, so that
// this one stays without threads.
base::StatusOr<std::string> ComputeProfile();

// "Intel(R) Xeon(R) Processor", for tables of what cells cost.
std::string ProcessorName();

}  // namespace ostraka::compare
