// A rate limit: a bucket that fills at a steady rate.
//
// Taking more than the bucket holds leaves a debt that later takers wait for. So an amount larger
// than the bucket still passes, and the rate holds over any longer time.
//
// Promises:
//   T1  The bucket never holds more than its capacity.
//   T2  Over any time t, at most capacity + t * per_second is taken by takers that ask Ready first,
//       plus the excess of the last one.
//
// May not know: what is counted, clocks.
//
// Memory: constant.
//
// What an attacker can do here: use up the rate of the bucket that it shares with others; the
// owner of the bucket says with whom.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/base/time.h"

namespace ostraka::net {

class TokenBucket {
 public:
  // Full at first. REQUIRES: 0 < per_second, 0 < capacity.
  TokenBucket(double per_second, double capacity)
      : per_second_(per_second), capacity_(capacity), tokens_(capacity) {
    OSTRAKA_CHECK(per_second > 0 && capacity > 0);
  }

  // True if tokens are left, so there is no debt. REQUIRES: `now` never goes back.
  bool Ready(base::Time now) {
    Refill(now);
    return tokens_ > 0;
  }
  bool Full(base::Time now) {
    Refill(now);
    return tokens_ >= capacity_;
  }
  // A negative amount gives back what was taken; what exceeds the capacity is lost.
  void Take(double amount) { tokens_ = std::min(capacity_, tokens_ - amount); }
  // Adds the difference to what the bucket holds, or caps it. REQUIRES: 0 < capacity.
  void SetCapacity(double capacity) {
    OSTRAKA_CHECK(capacity > 0);
    tokens_ = std::min(capacity, tokens_ + std::max(0.0, capacity - capacity_));
    capacity_ = capacity;
  }
  // Time until Ready; zero if it is ready.
  base::Duration Wait(base::Time now) {
    if (Ready(now)) return {};
    // One nanosecond more than needed, so that rounding never wakes a waiter too early.
    return {static_cast<std::int64_t>(-tokens_ / per_second_ * 1e9) + 1};
  }

 private:
  void Refill(base::Time now) {
    if (started_) {
      tokens_ = std::min(capacity_, tokens_ + (now - refilled_).seconds() * per_second_);
    }
    OSTRAKA_CHECK(!started_ || now >= refilled_);
    OSTRAKA_CHECK(tokens_ <= capacity_);  // T1
    started_ = true;
    refilled_ = now;
  }

  const double per_second_;
  double capacity_;
  double tokens_;
  bool started_ = false;
  base::Time refilled_;
};

}  // namespace ostraka::net
