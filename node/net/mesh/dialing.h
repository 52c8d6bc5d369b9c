// The dialing of one member: the attempts in progress, and when the next round is due.
//
// An address that does not answer must not keep the others waiting: a round begins with one
// attempt, and begins the next one when an attempt fails, or after a head start (RFC 8305's).
//
// Promises:
//   G1  At most kMostAttempts attempts are in progress.
//   G2  At most one next dial is scheduled. It fires once, unless Cancel or another Schedule comes
//       first.
//   G3  Waits grow with each failure up to the longest (backoff.h), whatever addresses come.
//
// May not know: addresses, links, who may be dialed.
//
// Memory: references to kMostAttempts connections, two timers.
//
// What an attacker can do here: announce new addresses, which hastens a dial that is due later, to
// one dial in each first back-off.
//
// Thread safety: none; the thread that runs the io_context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

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
      : waits_(waits), backoff_(waits), timer_(io), head_start_(io) {}

  static constexpr std::size_t kMostAttempts = 3;

  // Whether one is in progress, not yet the link.
  bool is_under_way() const { return !attempts_.empty(); }
  bool MayBegin() const { return attempts_.size() < kMostAttempts; }
  bool IsAttempt(const Connection& connection) const { return Find(connection) != attempts_.end(); }
  // Calls `next` once `attempt` has had its head start. REQUIRES: MayBegin, `attempt` is not null.
  void Begin(std::shared_ptr<Connection> attempt, std::function<void()> next) {
    OSTRAKA_CHECK(MayBegin() && attempt != nullptr);  // G1
    attempts_.push_back(std::move(attempt));
    head_start_.Start(waits_.head_start, std::move(next));
  }
  // Returns the attempt, which is none of ours any more. REQUIRES: IsAttempt.
  std::shared_ptr<Connection> End(const Connection& connection) {
    const auto at = Find(connection);
    OSTRAKA_CHECK(at != attempts_.end());
    std::shared_ptr<Connection> ended = *at;
    attempts_.erase(at);
    return ended;
  }
  // All of them.
  std::vector<std::shared_ptr<Connection>> EndAll() {
    head_start_.Cancel();
    return std::exchange(attempts_, {});
  }

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
  // No dial begins until the next Schedule; attempts go on.
  void Cancel() {
    due_.reset();
    timer_.Cancel();
    head_start_.Cancel();
  }
  bool is_scheduled() const { return due_.has_value(); }

  // The wait after another failure.
  base::Duration NextWait(base::Rng& rng) { return backoff_.Next(rng); }
  base::Duration FirstWait() const { return waits_.first; }
  void OnLinkEnded(base::Duration lifetime) { backoff_.OnLinkEnded(lifetime); }
  // The member may have been away for long: starts with short waits again.
  void ResetBackoff() { backoff_ = Backoff(waits_); }

 private:
  std::vector<std::shared_ptr<Connection>>::const_iterator Find(
      const Connection& connection) const {
    return std::find_if(attempts_.begin(), attempts_.end(),
                        [&](const auto& attempt) { return attempt.get() == &connection; });
  }

  const TransportBackoff waits_;
  Backoff backoff_;
  std::vector<std::shared_ptr<Connection>> attempts_;  // oldest first
  os::Timer timer_;
  os::Timer head_start_;  // of the newest attempt
  std::optional<base::Time> due_;
};

}  // namespace ostraka::net
