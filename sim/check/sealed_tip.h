// The newest block that any peer finished, with the state after it. A checker of sealed columns
// compares the next block with it.
//
// Thread safety: none; one simulation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "node/protocol/ground/machine.h"
#include "sim/engine/checker.h"

namespace ostraka::sim {

class SealedTip {
 public:
  // True if `done` ends the step right after the tip, so that the two can be compared. False for
  // the first block, for a block that others finished before, and after a gap.
  bool IsFollowedBy(const protocol::StepDone& done) const {
    return tip_ && HeightOf(*done.block) == HeightOf(*tip_->block) + 1;
  }
  // Moves on to `done`; returns false and stays if `done` is not newer.
  bool MoveTo(const protocol::StepDone& done) {
    if (tip_ && HeightOf(*done.block) <= HeightOf(*tip_->block)) return false;
    tip_ = Tip{done.block, done.state};
    return true;
  }
  // REQUIRES: MoveTo() returned true once.
  const wire::Block& block() const { return *tip_->block; }
  const protocol::ModelState& state() const { return tip_->state; }

 private:
  struct Tip {
    std::shared_ptr<const wire::Block> block;
    protocol::ModelState state;
  };
  std::optional<Tip> tip_;
};

// The name of a column in messages.
inline std::string ColumnOf(const wire::Block& block, std::size_t column) {
  return "column " + std::to_string(column) + " of step " + std::to_string(block.step);
}

}  // namespace ostraka::sim
