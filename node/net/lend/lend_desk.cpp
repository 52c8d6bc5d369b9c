#include "node/net/lend/lend_desk.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::net {

LendDesk::Asker& LendDesk::Of(const base::PeerId& peer) {
  const double share = rate_ / kShareOneIn;
  return askers_.try_emplace(peer, Asker{.bytes = {share, share * kBurstSeconds}}).first->second;
}

bool LendDesk::Hears(base::Time now, const base::PeerId& peer) {
  TokenBucket& asks = Of(peer).asks;
  if (!asks.Ready(now)) return false;
  asks.Take(1);
  return true;
}

bool LendDesk::Lends(base::Time now, const base::PeerId& peer, std::uint64_t bytes,
                     std::uint64_t on_their_way) {
  OSTRAKA_CHECK(bytes > 0);  // else D2 bounds nothing
  TokenBucket& own = Of(peer).bytes;
  const std::uint64_t most = std::max(kMostBytes, kMostChunks * bytes);
  if (on_their_way + bytes > most || !own.Ready(now) || !all_.Ready(now)) return false;
  own.Take(static_cast<double>(bytes));
  all_.Take(static_cast<double>(bytes));
  return true;
}

}  // namespace ostraka::net
