// How much of something may happen in a time: a bucket that fills at a steady rate.
//
// Who takes more than is there leaves a debt that later takers wait for, so an amount larger than
// the bucket passes too, and the rate holds over any longer time.
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

  // True if there is no debt, and something is left. REQUIRES: `now` never goes back.
  bool Ready(base::Time now) {
    Refill(now);
    return tokens_ > 0;
  }
  bool Full(base::Time now) {
    Refill(now);
    return tokens_ >= capacity_;
  }
  void Take(double amount) { tokens_ -= amount; }
  // Until Ready; zero if it is.
  base::Duration Wait(base::Time now) {
    if (Ready(now)) return {};
    // One nanosecond more than it takes: rounding must not wake anybody too early.
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
