// The models of torch_models.cpp written out by hand in double, as the torch trainer's judge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/train/dataset.h"

namespace ostraka::train {

struct ReferenceResult {
  double loss = 0;               // mean cross entropy of the rows
  std::vector<double> gradient;  // of the loss, in layout order
};

// Mean over `rows` of `examples`, whose labels are label_of(class). hidden == 0: softmax.
ReferenceResult ReferenceGradient(const Examples& examples, std::span<const std::uint32_t> rows,
                                  std::size_t class_count, std::size_t hidden, bool flip_labels,
                                  std::span<const float> parameters);

}  // namespace ostraka::train
