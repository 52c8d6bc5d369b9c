// Whether the calling thread computes with floats as IEEE-754 has it.
//
// A library built with -ffast-math sets flush-to-zero for the thread that loads it, and a program
// may change the rounding mode; kernels would then give other bits.
//
// Thread safety: reads the calling thread's state only.
#pragma once

#include "node/base/status.h"

namespace ostraka::exact {

// FailedPrecondition, with the reason, unless floats and doubles round to nearest and subnormal
// inputs and results are kept.
base::Status CheckFloatEnvironment();

}  // namespace ostraka::exact
