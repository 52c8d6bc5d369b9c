// The steps in which a colluder plays its script.
//
// Promises:
//   W1  Before the first such step the colluder is honest, but for the genesis.
//   W2  The first such step never changes once it is known.
//
// May not know: deviations, messages but their slots.
//
// Memory: two numbers.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>

#include "node/wire/messages.h"

namespace ostraka::sim {

struct Timing {
  // Start at the first step in which the first colluder owns a part: only then it owes an AGG.
  bool as_owner = false;
  bool once = false;  // in one step only
};

class ScriptSteps {
 public:
  ScriptSteps(std::uint64_t from_step, Timing timing) : timing_(timing), wanted_(from_step) {
    if (!timing.as_owner) first_ = from_step;
  }

  // A step begins. `owns_part`: the first colluder owns one.
  void OnStep(std::uint64_t step, bool owns_part) {
    if (!first_ && step >= wanted_ && owns_part) first_ = step;  // W2
  }
  bool Covers(const wire::Slot& slot) const {
    if (slot.phase == wire::Phase::kGenesis) return true;
    return first_ && slot.step >= *first_ && (!timing_.once || slot.step == *first_);
  }
  // From the first step on, so the genesis counts too.
  bool FromTheStart() const { return first_ == 0U; }

 private:
  Timing timing_;
  std::uint64_t wanted_;
  std::optional<std::uint64_t> first_;  // once it is known
};

}  // namespace ostraka::sim
