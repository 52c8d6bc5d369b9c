// A machine's timers on an io_context: any number of timers behind one system timer.
//
// Promises:
//   Q1  Timers fire in the order of their time, and timers of equal time in the order of Set.
//   Q2  A timer that is cancelled or set again before its delivery does not fire, even if its time
//       has passed.
//   Q3  No timer fires early, nor within a call of this class.
//   Q4  A timer that sets itself again for a time in the past fires only after other work that
//       waits in the io_context.
//   Q5  Each timer id has at most one entry in the order, and each entry one id.
//
// May not know: what a timer is for.
// Memory: one entry for each timer that is set.
// What an attacker can do here: what the machine's timers allow; the queue itself takes any number.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "node/base/time.h"
#include "node/os/timer.h"

namespace ostraka::host {

class TimerQueue {
 public:
  using Id = std::uint64_t;

  // `clock` must never go back. `fired` may call any member function.
  TimerQueue(boost::asio::io_context& io, std::function<base::Time()> clock,
             std::function<void(Id)> fired);

  // Replaces a timer with an equal id. A time in the past fires as soon as possible, never within
  // this call.
  void Set(Id id, base::Time at);
  void Cancel(Id id);
  void Clear();

  // Q5, in full. Each mutation checks the sizes.
  void CheckInvariants() const;

 private:
  struct Place {
    base::Time at;
    std::uint64_t sequence = 0;  // order of Set
    auto operator<=>(const Place&) const = default;
  };

  void Arm();
  void Fire();

  const std::function<base::Time()> clock_;
  const std::function<void(Id)> fired_;
  os::Timer timer_;
  std::map<Place, Id> due_;
  std::map<Id, Place> places_;
  std::uint64_t next_sequence_ = 0;
};

}  // namespace ostraka::host
