// One caller's turn at a pacer: asked for at most once at a time, and used up by one piece of bulk.
//
//   idle ── Take, the pacer has no debt ──► idle (taken)
//   idle ── Take ──► asked ── the pacer calls ──► held ── Take ──► idle (taken)
//
// Promises:
//   P1  At most one turn is asked for or held.
//   P2  A turn that was granted is used by the next Take, and by no other, unless it is given back.
//   P3  `wake` is called once for each Take that returned false while nothing was asked, never
//       within Take, and not after the end of this object.
//
// May not know: what is sent.
//
// Memory: one callback in the pacer's queue.
//
// What an attacker can do here: nothing; only our own connections ask.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "node/base/check.h"
#include "node/net/link/pacer.h"

namespace ostraka::net {

class PacerTurn {
 public:
  // REQUIRES: `pacer` outlives this object.
  explicit PacerTurn(Pacer& pacer) : pacer_(pacer) {}
  PacerTurn(const PacerTurn&) = delete;
  PacerTurn& operator=(const PacerTurn&) = delete;

  // True: the caller may proceed once, now. False: `wake` is called when its turn has come.
  bool Take(std::function<void()> wake, PacerLane lane = PacerLane::kMembers) {
    if (*state_ == State::kAsked) return false;
    if (*state_ == State::kHeld) {
      *state_ = State::kIdle;
      return true;
    }
    const bool now = pacer_.MayGo(
        [weak = std::weak_ptr<State>(state_), wake = std::move(wake)] {
          const std::shared_ptr<State> state = weak.lock();
          if (state == nullptr) return;
          OSTRAKA_CHECK(*state == State::kAsked);  // P1
          *state = State::kHeld;
          wake();
        },
        lane);
    if (!now) *state_ = State::kAsked;
    return now;
  }

  // A turn that was granted goes unused.
  void GiveBack() {
    if (*state_ == State::kHeld) *state_ = State::kIdle;
  }

 private:
  enum class State { kIdle, kAsked, kHeld };

  Pacer& pacer_;
  const std::shared_ptr<State> state_ = std::make_shared<State>(State::kIdle);
};

}  // namespace ostraka::net
