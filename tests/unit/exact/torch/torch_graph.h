// A graph's loss and gradient by libtorch's eager operations and autograd: the oracle of exact/.
#pragma once

#include <vector>

#include "tests/unit/exact/problem.h"

namespace ostraka::exact::testing {

// One libtorch thread.
Gradient TorchGradientOf(const Problem& problem);

}  // namespace ostraka::exact::testing
