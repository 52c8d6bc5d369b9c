// What each signal that reaches a node asks for. The first one asks for an end without harm, and
// the next one for an end at once; but one event may send several signals: a terminal that closes
// sends SIGHUP, and so does its shell, and the end of a login session sends SIGTERM too.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "node/base/time.h"

namespace ostraka::cli {

class StopOrders {
 public:
  enum class Order : std::uint8_t { kStop, kStopAtOnce, kNone };

  // How long signals of another kind than the first belong to its event.
  static constexpr base::Duration kOneEvent = base::Seconds(2);

  // Of a signal (node/os/stop_signals.h has the names) that comes at `now`. REQUIRES: `now` never
  // falls.
  Order Of(const std::string& signal, base::Time now) {
    if (first_.empty()) {
      first_ = signal;
      began_ = now;
      return Order::kStop;
    }
    // Nobody hurries a node by closing its terminal.
    if (signal == "SIGHUP") return Order::kNone;
    const bool same_event = signal != first_ && now - began_ < kOneEvent;
    return same_event ? Order::kNone : Order::kStopAtOnce;
  }

 private:
  std::string first_;
  base::Time began_;
};

}  // namespace ostraka::cli
