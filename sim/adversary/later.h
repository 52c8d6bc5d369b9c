// Delayed actions of an adversary, in the order of their due times.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "sim/adversary/adversary.h"
#include "sim/adversary/editor_options.h"

namespace ostraka::sim {

// Uses the editor's first reserved timer.
class Later {
 public:
  void Hold(EditorTurn& turn, base::Time due, protocol::Action action) {
    held_.emplace(due, std::move(action));
    Arm(turn);
  }
  // Returns true if the input was the timer; the due actions have then been emitted.
  bool OnInput(EditorTurn& turn, const protocol::Input& input) {
    const auto* timer = std::get_if<protocol::TimerFired>(&input);
    if (!timer || timer->id != kFirstReservedTimer) return false;
    while (!held_.empty() && held_.begin()->first <= turn.now()) {
      turn.Emit(std::move(held_.begin()->second));
      held_.erase(held_.begin());
    }
    Arm(turn);
    return true;
  }
  // Sets the timer for the earliest action. Call it also after a change of held().
  void Arm(EditorTurn& turn) const {
    if (held_.empty()) return;
    turn.Emit(protocol::SetTimer{kFirstReservedTimer, std::max(held_.begin()->first, turn.now())});
  }
  std::multimap<base::Time, protocol::Action>& held() { return held_; }
  std::size_t size() const { return held_.size(); }

 private:
  std::multimap<base::Time, protocol::Action> held_;
};

}  // namespace ostraka::sim
