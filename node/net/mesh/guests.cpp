#include "node/net/mesh/guests.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net {

base::StatusOr<std::optional<base::PeerId>> Guests::Enter(base::Time now, const base::PeerId& peer,
                                                          const std::string& network) {
  OSTRAKA_CHECK(!Contains(peer));
  if (places_ == 0) return base::FailedPrecondition("is not a member of this run");
  if (!network.empty() && FromNetwork(network) >= kPerNetwork) {
    return base::Unavailable("came while " + std::to_string(kPerNetwork) +
                             " other strangers from " + network + " are linked");
  }
  std::optional<base::PeerId> gives_way;
  if (guests_.size() >= places_) {
    gives_way = WhoGivesWay(now);
    if (!gives_way) {
      return base::Unavailable("came while " + std::to_string(places_) +
                               " other strangers are linked");
    }
    guests_.erase(*gives_way);
  }
  guests_[peer] = {network, now};
  CheckInvariants();
  return gives_way;
}

bool Guests::Leave(const base::PeerId& peer) { return guests_.erase(peer) == 1; }

std::size_t Guests::FromNetwork(const std::string& network) const {
  return static_cast<std::size_t>(
      std::count_if(guests_.begin(), guests_.end(),
                    [&](const auto& guest) { return guest.second.network == network; }));
}

std::optional<base::PeerId> Guests::WhoGivesWay(base::Time now) const {
  std::optional<base::PeerId> oldest;
  for (const auto& [peer, guest] : guests_) {
    if (expected_.contains(peer) || now - guest.since < kStay) continue;
    if (!oldest || guest.since < guests_.at(*oldest).since) oldest = peer;
  }
  return oldest;
}

void Guests::CheckInvariants() const {
  OSTRAKA_CHECK(guests_.size() <= places_);
  for (const auto& [peer, guest] : guests_) {
    OSTRAKA_CHECK(guest.network.empty() || FromNetwork(guest.network) <= kPerNetwork);
  }
}

}  // namespace ostraka::net
