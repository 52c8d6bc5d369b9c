// One machine with its clock and its timers. Keeps the part of the contract of a driver that is
// about time and turns (node/protocol/ground/machine.h, 1).
//
// Promises:
//   M1  Calls of the machine are serial and never nest.
//   M2  `now` is the time since the seat was made, and never goes back.
//   M3  The machine's actions are performed in order: timers here, all others by `perform`.
//   M4  After StopTimers no timer fires and none can be set.
//   M5  A machine that threw is never called again.
//
// May not know: what actions and inputs mean, but for timers.
// Memory: the timers that the machine set.
// What an attacker can do here: nothing beyond what the machine lets it do.
//
// Thread safety: none; the protocol thread.
#pragma once

#include <functional>
#include <memory>

#include "node/host/threads/timer_queue.h"
#include "node/protocol/ground/machine.h"

namespace ostraka::host {

class MachineSeat {
 public:
  using Perform = std::function<void(protocol::Action&)>;
  using Fired = std::function<void(protocol::TimerId)>;

  // `fired` tells of a timer, never within a call of the seat. REQUIRES: `machine` is fresh, not
  // null; `io` outlives the seat.
  MachineSeat(boost::asio::io_context& io, std::unique_ptr<protocol::Machine> machine, Fired fired);

  // Time since the seat was made.
  base::Time Now() const;

  // REQUIRES: not called from `perform`, nor after the machine threw (CHECKed).
  void Feed(const protocol::Input& input, const Perform& perform);

  void StopTimers();

  // For people; empty if the machine threw.
  protocol::Progress progress() const;

 private:
  void PerformHere(protocol::Action& action, const Perform& perform);

  const std::unique_ptr<protocol::Machine> machine_;
  const base::Time origin_;
  TimerQueue timers_;
  base::Time last_;        // of the last call
  bool stepping_ = false;  // stays true if the machine throws
  bool stopped_ = false;   // the timers
};

}  // namespace ostraka::host
