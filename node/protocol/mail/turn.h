// The Step call in progress: its time, and where its actions go. The machine owns one; its parts
// hold a reference to it and act only while a call is in progress.
//
// Promises [C: CHECKed]:
//   N1  An action goes into the outbox of the call in progress; there is none between calls. [C]
//   N2  Calls do not nest, and time does not go back. [C]
//
// May not know: what the actions are, but to whom a message goes.
//
// Memory: a time. What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "node/base/check.h"
#include "node/protocol/ground/machine.h"

namespace ostraka::protocol {

class Turn {
 public:
  // REQUIRES: no call is in progress; time does not go back.
  void Begin(Time now, Outbox& out) {
    OSTRAKA_CHECK(out_ == nullptr && now >= now_);
    now_ = now;
    out_ = &out;
  }
  void End() { out_ = nullptr; }

  // Of this call, or of the last one.
  Time now() const { return now_; }
  // REQUIRES: a call is in progress.
  void Do(Action action) const {
    OSTRAKA_CHECK(out_ != nullptr);
    out_->Add(std::move(action));
  }
  // Number of actions of this call, and of those before it in the same outbox.
  // REQUIRES (both): a call is in progress.
  std::size_t done() const {
    OSTRAKA_CHECK(out_ != nullptr);
    return out_->actions().size();
  }
  // Takes the messages to `to` back, from action `first` on. REQUIRES: done() was `first`.
  std::vector<Send> TakeBack(std::size_t first, const PeerId& to) const {
    OSTRAKA_CHECK(first <= done());
    std::vector<Send> taken;
    auto& actions = out_->actions();
    std::size_t kept = first;
    for (std::size_t i = first; i < actions.size(); ++i) {
      auto* send = std::get_if<Send>(&actions[i]);
      if (send != nullptr && send->to == to) {
        taken.push_back(std::move(*send));
      } else if (kept++ != i) {
        actions[kept - 1] = std::move(actions[i]);
      }
    }
    actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(kept), actions.end());
    return taken;
  }

 private:
  Time now_;
  Outbox* out_ = nullptr;
};

}  // namespace ostraka::protocol
