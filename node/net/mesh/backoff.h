// How long to wait before one member is dialed again.
//
// Thread safety: none; one owner.
#pragma once

#include "node/base/rng.h"
#include "node/base/time.h"
#include "node/net/mesh/transport.h"

namespace ostraka::net {

class Backoff {
 public:
  explicit Backoff(const TransportBackoff& options) : options_(options), next_(options.first) {}

  // The wait after one more failure: `first`, twice that, ..., at most `longest`; with jitter.
  Duration Next(base::Rng& rng);
  // A link ended after `lifetime`: one that was stable makes the next wait short again.
  void OnLinkEnded(Duration lifetime);

 private:
  TransportBackoff options_;
  Duration next_;
};

}  // namespace ostraka::net
