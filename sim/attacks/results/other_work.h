// What the attacks on work (aggregation::Knowledge::kWork) compute in place of what is owed, by a
// trainer of the attacker's own. Honest trainers, jobs and specs know nothing of it.
//
// Thread safety: pure functions, but for OtherWork, which uses a trainer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "node/base/status.h"
#include "node/train/local_steps.h"
#include "node/train/toy_trainer.h"
#include "node/train/trainer.h"

namespace ostraka::sim {

// True for the attack whose trainer is over flipped labels; those of others are over the true ones.
inline bool FlipsLabels(std::string_view attack) { return attack == "label_flip"; }

// Label K - 1 - y for y, of K classes. REQUIRES: labels are below K.
inline void FlipLabels(std::span<std::uint8_t> labels, std::uint32_t class_count) {
  for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(class_count - 1 - label);
}

// Label -y for y, of the toy: negating the labels negates the optimal parameters.
inline void FlipLabels(train::ToyProblem& problem) {
  for (float& value : problem.target) value = -value;
}

// The work of an attacker that owes `owed`, by its own trainer: label_flip, ascent, skip_inner. The
// errors of train::WorkOf. REQUIRES: `attack` is one of them.
base::StatusOr<train::Worked> OtherWork(std::string_view attack, train::Trainer& own,
                                        const train::Work& owed);

}  // namespace ostraka::sim
