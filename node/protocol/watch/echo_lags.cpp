#include "node/protocol/watch/echo_lags.h"

#include <algorithm>
#include <vector>

#include "node/base/check.h"

namespace ostraka::protocol {

void EchoLags::Note(const std::map<base::PeerId, base::Duration>& lags, std::size_t quorum,
                    base::Duration delta) {
  if (quorum < 2 || lags.size() + 1 < quorum) return;
  std::vector<std::int64_t> sorted;
  for (const auto& [member, lag] : lags) sorted.push_back(lag.ns);
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t lag = std::clamp<std::int64_t>(sorted[quorum - 2], 0, delta.ns / 2);
  kept_.push_back(static_cast<std::uint64_t>(lag / 1'000));
  if (kept_.size() > kLagsKept) kept_.pop_front();
  CheckInvariants();
}

void EchoLags::CheckInvariants() const { OSTRAKA_CHECK(kept_.size() <= kLagsKept); }

std::optional<std::uint64_t> EchoLags::Microseconds() const {
  if (kept_.empty()) return std::nullopt;
  std::vector<std::uint64_t> lags(kept_.begin(), kept_.end());
  const std::size_t rank = (lags.size() * 99 + 99) / 100 - 1;
  std::nth_element(lags.begin(), lags.begin() + static_cast<std::ptrdiff_t>(rank), lags.end());
  return lags[rank];
}

void EchoLags::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, kept_); }

}  // namespace ostraka::protocol
