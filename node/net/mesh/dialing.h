// The dialing of one member: the attempt in progress, and when the next one is due.
//
// Promises:
//   G1  At most one attempt is in progress.
//   G2  At most one next dial is scheduled. It fires once, unless Cancel or another Schedule comes
//       first.
//   G3  Waits grow with each failure up to the longest (backoff.h), whatever addresses come.
//
// May not know: addresses, links, who may be dialed.
//
// Memory: a reference to one connection, one timer.
//
// What an attacker can do here: announce new addresses, which hastens a dial that is due later, to
// one dial in each first back-off.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/base/time.h"
#include "node/net/link/connection.h"
#include "node/net/mesh/backoff.h"
#include "node/os/steady_clock.h"
#include "node/os/timer.h"

namespace ostraka::net {

class Dialing {
 public:
  Dialing(boost::asio::io_context& io, const TransportBackoff& waits)
      : waits_(waits), backoff_(waits), timer_(io) {}

  // The attempt in progress, not yet the link; null: none.
  const std::shared_ptr<Connection>& attempt() const { return attempt_; }
  // REQUIRES: attempt() is null, `attempt` is not.
  void Begin(std::shared_ptr<Connection> attempt) {
    OSTRAKA_CHECK(attempt_ == nullptr && attempt != nullptr);  // G1
    attempt_ = std::move(attempt);
  }
  // Returns the attempt, which is none of ours any more; null if there was none.
  std::shared_ptr<Connection> End() { return std::exchange(attempt_, nullptr); }

  // Calls `dial` after `wait`, instead of what was scheduled.
  void Schedule(base::Duration wait, std::function<void()> dial) {
    due_ = os::SteadyNow() + wait;
    timer_.Start(wait, [this, dial = std::move(dial)] {
      due_.reset();
      dial();
    });
  }
  // Schedule, unless one is due earlier.
  void ScheduleNoLater(base::Duration wait, std::function<void()> dial) {
    if (due_ && *due_ <= os::SteadyNow() + wait) return;
    Schedule(wait, std::move(dial));
  }
  void Cancel() {
    due_.reset();
    timer_.Cancel();
  }
  bool is_scheduled() const { return due_.has_value(); }

  // The wait after another failure.
  base::Duration NextWait(base::Rng& rng) { return backoff_.Next(rng); }
  base::Duration FirstWait() const { return waits_.first; }
  void OnLinkEnded(base::Duration lifetime) { backoff_.OnLinkEnded(lifetime); }
  // The member may have been away for long: starts with short waits again.
  void ResetBackoff() { backoff_ = Backoff(waits_); }

 private:
  const TransportBackoff waits_;
  Backoff backoff_;
  std::shared_ptr<Connection> attempt_;
  os::Timer timer_;
  std::optional<base::Time> due_;
};

}  // namespace ostraka::net
