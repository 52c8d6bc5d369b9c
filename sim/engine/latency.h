// A random delay, for every duration that varies in reality.
//
// Thread safety: plain value.
#pragma once

#include "node/base/rng.h"
#include "node/base/time.h"

namespace ostraka::sim {

// Uniform in [base, base + jitter]. REQUIRES: both are >= 0.
struct Latency {
  base::Duration base;
  base::Duration jitter;

  base::Duration Draw(base::Rng& rng) const { return {base.ns + rng.Between(0, jitter.ns)}; }
};

}  // namespace ostraka::sim
