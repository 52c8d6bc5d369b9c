// A rate limit: a bucket that fills at a steady rate.
//
// Taking more than the bucket holds leaves a debt that later takers wait for. So an amount larger
// than the bucket still passes, and the rate holds over any longer time.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node/base/time.h"

namespace ostraka::net {

class TokenBucket {
 public:
  // Full at first. REQUIRES: 0 < per_second, 0 < capacity.
  TokenBucket(double per_second, double capacity)
      : per_second_(per_second), capacity_(capacity), tokens_(capacity) {}

  // True if tokens are left, so there is no debt. REQUIRES: `now` never goes back.
  bool Ready(base::Time now) {
    Refill(now);
    return tokens_ > 0;
  }
  bool Full(base::Time now) {
    Refill(now);
    return tokens_ >= capacity_;
  }
  void Take(double amount) { tokens_ -= amount; }
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
    started_ = true;
    refilled_ = now;
  }

  const double per_second_;
  const double capacity_;
  double tokens_;
  bool started_ = false;
  base::Time refilled_;
};

}  // namespace ostraka::net
