// Initial parameters of a network, the same bits on every machine.
//
// Thread safety: pure function.
#pragma once

#include <vector>

#include "node/base/ids.h"
#include "node/base/tensor_layout.h"

namespace ostraka::train {

// Uniform in +-1/sqrt(fan_in), the fan-in rule of He et al. (2015) with the gain that is usual for
// fully connected layers. The fan-in of a tensor of two or more dimensions is the product of all
// but its first; a vector (a bias) takes that of the tensor before it. Each tensor has a generator
// of its own, forked by its index.
// REQUIRES: every tensor has a dimension and an element, and the first is no vector.
std::vector<float> UniformByFanIn(const base::TensorLayout& layout, const base::Digest& seed);

}  // namespace ostraka::train
