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

bool LendDesk::WouldLend(base::Time now, const base::PeerId& peer, std::uint64_t bytes,
                         std::uint64_t on_their_way) {
  OSTRAKA_CHECK(bytes > 0);  // else D2 bounds nothing
  const std::uint64_t most = std::max(kMostBytes, kMostChunks * bytes);
  return on_their_way + bytes <= most && Of(peer).bytes.Ready(now) && all_.Ready(now);
}

bool LendDesk::Lends(base::Time now, const base::PeerId& peer, std::uint64_t bytes,
                     std::uint64_t on_their_way) {
  if (!WouldLend(now, peer, bytes, on_their_way)) return false;
  Of(peer).bytes.Take(static_cast<double>(bytes));
  all_.Take(static_cast<double>(bytes));
  return true;
}

void LendDesk::TakeBack(const base::PeerId& peer, std::uint64_t bytes) {
  Of(peer).bytes.Take(-static_cast<double>(bytes));
  all_.Take(-static_cast<double>(bytes));
}

}  // namespace ostraka::net
