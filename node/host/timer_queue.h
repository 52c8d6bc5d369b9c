// A machine's timers on an io_context: any number of them behind one system timer.
//
// Timers fire in order of their time, those of one time in the order they were set; one that was
// cancelled or set again before it was delivered does not fire, even if its time had come.
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

  // `clock` must never go back. `fired` may call any member.
  TimerQueue(boost::asio::io_context& io, std::function<base::Time()> clock,
             std::function<void(Id)> fired);

  // Replaces a timer of the same id. A time that has passed fires as soon as possible, never within
  // this call.
  void Set(Id id, base::Time at);
  void Cancel(Id id);
  void Clear();

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
