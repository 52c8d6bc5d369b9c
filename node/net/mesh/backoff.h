// The wait before a member is dialed again.
//
// Promises:
//   W1  A wait lies between `first` and `longest`, but for the jitter, and each failure doubles it.
//   W2  Only a link that lived for `stable` shortens it.
//
// May not know: clocks, members, why a dial failed.
//
// Memory: constant.
//
// What an attacker can do here: end links early, so that the wait for it alone stays long.
//
// Thread safety: none; one owner.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/base/rng.h"
#include "node/base/time.h"
#include "node/net/mesh/transport.h"

namespace ostraka::net {

class Backoff {
 public:
  explicit Backoff(const TransportBackoff& options) : options_(options), next_(options.first) {}

  // The wait after another failure: `first`, doubled each time up to `longest`, with jitter.
  Duration Next(base::Rng& rng) {
    const Duration wait = next_;
    next_ = std::min(next_ * 2, options_.longest);
    OSTRAKA_CHECK(next_ <= std::max(options_.longest, options_.first));  // W1
    const double factor = 1 + options_.jitter * (2 * rng.Unit() - 1);
    return {static_cast<std::int64_t>(static_cast<double>(wait.ns) * factor)};
  }
  // Resets the wait to `first` if the link's lifetime was at least `stable`.
  void OnLinkEnded(Duration lifetime) {
    if (lifetime >= options_.stable) next_ = options_.first;
  }

 private:
  TransportBackoff options_;
  Duration next_;
};

}  // namespace ostraka::net
