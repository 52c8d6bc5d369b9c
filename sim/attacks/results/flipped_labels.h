// The data of label_flip: what an attacker's own trainer is made over. Honest trainers, jobs and
// specs know nothing of it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "node/train/toy_trainer.h"

namespace ostraka::sim {

// Label K - 1 - y for y, of K classes. REQUIRES: labels are below K.
inline void FlipLabels(std::span<std::uint8_t> labels, std::uint32_t class_count) {
  for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(class_count - 1 - label);
}

// Label -y for y, of the toy: negating the labels negates the optimal parameters.
inline void FlipLabels(train::ToyProblem& problem) {
  for (float& value : problem.target) value = -value;
}

}  // namespace ostraka::sim
