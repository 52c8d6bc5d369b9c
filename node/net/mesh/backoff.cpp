#include "node/net/mesh/backoff.h"

#include <algorithm>
#include <cstdint>

#include "node/base/check.h"

namespace ostraka::net {

Duration Backoff::Next(base::Rng& rng) {
  const Duration wait = next_;
  next_ = std::min(next_ * 2, options_.longest);
  OSTRAKA_CHECK(next_ <= std::max(options_.longest, options_.first));  // W1
  const double factor = 1 + options_.jitter * (2 * rng.Unit() - 1);
  return {static_cast<std::int64_t>(static_cast<double>(wait.ns) * factor)};
}

void Backoff::OnLinkEnded(Duration lifetime) {
  if (lifetime >= options_.stable) next_ = options_.first;
}

}  // namespace ostraka::net
