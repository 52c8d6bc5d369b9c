// The models of torch_models.cpp by hand in double: the reference of the torch trainer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "node/train/dataset.h"

namespace ostraka::train {

struct ReferenceNetwork {
  std::string model;  // softmax, mlp, cnn
  std::size_t hidden = 0;
};

struct ReferenceResult {
  double loss = 0;               // mean cross entropy of the rows
  std::vector<double> gradient;  // of the loss, in layout order
};

// Mean over `rows` of `examples`, one of `data`'s parts.
ReferenceResult ReferenceGradient(const ReferenceNetwork& network, const Dataset& data,
                                  const Examples& examples, std::span<const std::uint32_t> rows,
                                  std::span<const float> parameters);

}  // namespace ostraka::train
