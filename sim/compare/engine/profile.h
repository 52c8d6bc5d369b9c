// The environment of a result besides its cell: the machine's arithmetic.
//
// A result of the exact kernels is equal by bits on every machine. Another is equal by bits on
// machines of one profile and may differ between profiles, because libtorch and its BLAS round
// according to the processor's instructions. So the profile has, besides names for people, a
// fingerprint of the gradient of each model on this machine. (Aggregation gives equal bits
// everywhere.)
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::compare {

// "libtorch 1.13.1, numerics 0a1b2c3d4e5f6071". Loads the trainer module; errors as
// train::MakeTrainer. Runs in a process of its own, so that this process stays without threads.
base::StatusOr<std::string> ComputeProfile();

// Of cells that are exact (Cell::is_exact); needs no trainer module.
inline constexpr char kExactProfile[] = "exact/1";

// "Intel(R) Xeon(R) Processor", for tables of costs.
std::string ProcessorName();

}  // namespace ostraka::compare
