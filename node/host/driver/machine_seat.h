// One machine of any kind with its clock and its timers. Keeps the part of the contract of a driver
// that is about time, turns and timers (node/machine/machine.h, 1 and 7).
//
// Promises:
//   M1  Calls of the machine are serial and never nest.
//   M2  `now` is the time since the seat was made, and never goes back.
//   M3  The machine's actions are performed in order: timers here, all others by `perform`.
//   M4  After StopTimers no timer fires and none can be set.
//   M5  After the machine or `perform` threw, the machine is never called again.
//
// May not know: what actions and inputs mean, but for timers.
// Memory: the timers that the machine set.
// What an attacker can do here: nothing beyond what the machine lets it do.
//
// Thread safety: Now from any thread; the rest on the protocol thread.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "node/base/check.h"
#include "node/host/threads/timer_queue.h"
#include "node/machine/machine.h"
#include "node/os/steady_clock.h"

namespace ostraka::host {

template <machine::Kind K>
class MachineSeat {
 public:
  using Perform = std::function<void(machine::ActionOf<K>&)>;
  using Fired = std::function<void(machine::TimerId)>;

  // `fired` tells of a timer, never within a call of the seat. REQUIRES: `machine` is fresh, not
  // null; `io` outlives the seat.
  MachineSeat(boost::asio::io_context& io, std::unique_ptr<machine::Machine<K>> machine,
              Fired fired)
      : machine_(std::move(machine)),
        origin_(os::SteadyNow()),
        timers_(
            io, [this] { return Now(); }, std::move(fired)) {
    OSTRAKA_CHECK(machine_ != nullptr);
  }

  // Time since the seat was made.
  base::Time Now() const { return base::Time{} + (os::SteadyNow() - origin_); }

  // REQUIRES: not called from `perform`; not called again after the machine or `perform` threw
  // (CHECKed).
  void Feed(const machine::InputOf<K>& input, const Perform& perform) {
    OSTRAKA_CHECK(!std::exchange(stepping_, true));
    const base::Time now = Now();
    OSTRAKA_CHECK(last_now_ <= now);
    last_now_ = now;
    machine::Outbox<K> out;
    machine_->Step(now, input, out);
    for (machine::ActionOf<K>& action : out.actions()) PerformHere(action, perform);
    longest_turn_ = std::max(longest_turn_, Now() - now);
    stepping_ = false;
  }

  // How long a call of the machine took at most, with its actions. No message is read meanwhile.
  base::Duration longest_turn() const { return longest_turn_; }

  void StopTimers() {
    stopped_ = true;
    timers_.Clear();
  }

  // For people. Empty during Feed, and after the machine or `perform` threw.
  typename K::Progress progress() const {
    return stepping_ ? typename K::Progress{} : machine_->progress();
  }

 private:
  void PerformHere(machine::ActionOf<K>& action, const Perform& perform) {
    if (const auto* set = std::get_if<machine::SetTimer>(&action)) {
      if (!stopped_) timers_.Set(set->id, set->at);
    } else if (const auto* cancel = std::get_if<machine::CancelTimer>(&action)) {
      timers_.Cancel(cancel->id);
    } else {
      perform(action);
    }
  }

  const std::unique_ptr<machine::Machine<K>> machine_;
  const base::Time origin_;
  TimerQueue timers_;
  base::Duration longest_turn_;
  base::Time last_now_;    // the `now` of the last Feed
  bool stepping_ = false;  // stays true if the machine or `perform` throws
  bool stopped_ = false;   // the timers
};

}  // namespace ostraka::host
