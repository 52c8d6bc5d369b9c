// Initial parameters of a network, bit-identical on every machine.
//
// Thread safety: pure function.
#pragma once

#include <vector>

#include "exact/graph/graph.h"
#include "node/base/ids.h"
#include "node/base/tensor_layout.h"

namespace ostraka::train {

// Uniform in +-1/sqrt(fan_in), the fan-in rule of He et al. (2015) with the usual gain for fully
// connected layers. The fan-in of a tensor of two or more dimensions is the product of all but its
// first dimension. A vector (a bias) takes the fan-in of the tensor before it. Each tensor has its
// own generator, forked by its index. REQUIRES: every tensor has a dimension and an element, and
// the first is not a vector.
std::vector<float> UniformByFanIn(const base::TensorLayout& layout, const base::Digest& seed);

// As a graph file states them (docs/graph.md): zeros, ones, normal (the near-normal of base::Rng,
// bounded by 6 deviations) or uniform. Generators as above.
std::vector<float> InitialByGraph(const std::vector<exact::Parameter>& tensors,
                                  const base::Digest& seed);

}  // namespace ostraka::train
