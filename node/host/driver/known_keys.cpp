#include "node/host/driver/known_keys.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "node/base/check.h"

namespace ostraka::host {

KnownKeys::KnownKeys(boost::asio::io_context& io, std::set<base::PeerId> others,
                     base::Duration forget_after, Forget forget)
    : io_(io),
      forget_after_(forget_after),
      forget_(std::move(forget)),
      others_(std::move(others)) {}

bool KnownKeys::Add(const base::PeerId& peer) {
  if (banned_.contains(peer)) return false;  // O2
  return others_.insert(peer).second;
}

bool KnownKeys::SetLeft(std::set<base::PeerId> left) {
  if (left == left_) return false;
  left_ = std::move(left);
  return true;
}

std::vector<base::PeerId> KnownKeys::WithoutLeft(const std::set<base::PeerId>& peers) const {
  std::vector<base::PeerId> rest;
  std::set_difference(peers.begin(), peers.end(), left_.begin(), left_.end(),
                      std::back_inserter(rest));
  return rest;
}

bool KnownKeys::LinkChanged(const base::PeerId& peer, bool up) {
  if (!others_.contains(peer)) return false;
  if (up) {
    linked_.insert(peer);
  } else {
    linked_.erase(peer);
  }
  CheckInvariants();
  return true;
}

bool KnownKeys::Ban(const base::PeerId& peer) {
  if (!Remove(peer)) return false;
  if (stopped_) return true;
  forgetting_.try_emplace(peer, io_).first->second.Start(forget_after_, [this, peer] {
    OSTRAKA_CHECK(!stopped_);  // O3
    forget_(peer);
  });
  CheckInvariants();
  return true;
}

bool KnownKeys::Remove(const base::PeerId& peer) {
  if (!banned_.insert(peer).second) return false;  // O3: at most once
  linked_.erase(peer);
  const bool was_member = others_.erase(peer) == 1;
  CheckInvariants();
  return was_member;
}

void KnownKeys::StopForgetting() {
  stopped_ = true;
  forgetting_.clear();
  CheckInvariants();
}

void KnownKeys::CheckInvariants() const {
  OSTRAKA_CHECK(std::includes(others_.begin(), others_.end(), linked_.begin(), linked_.end()));
  for (const auto& [peer, timer] : forgetting_) OSTRAKA_CHECK(!others_.contains(peer));
  for (const base::PeerId& peer : banned_) OSTRAKA_CHECK(!others_.contains(peer));
  OSTRAKA_CHECK(!stopped_ || forgetting_.empty());
}

}  // namespace ostraka::host
