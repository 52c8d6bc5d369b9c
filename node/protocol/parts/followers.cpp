#include "node/protocol/parts/followers.h"

#include "node/base/check.h"
#include "node/protocol/rules/standing.h"

namespace ostraka::protocol {

void Followers::OnAsked(const PeerId& peer, base::Time now) {
  if (const auto found = asked_.find(peer); found != asked_.end()) found->second.at = now;
}

std::vector<PeerId> Followers::all() const {
  std::vector<PeerId> peers;
  for (const auto& [peer, since] : asked_) peers.push_back(peer);
  return peers;
}

std::vector<PeerId> Followers::Audience(const wire::Block& head) const {
  std::vector<PeerId> audience = head.members;
  audience.insert(audience.end(), head.left.begin(), head.left.end());
  for (const auto& [peer, since] : asked_) {
    if (!IsMember(head.members, peer) && !IsMember(head.left, peer)) audience.push_back(peer);
  }
  return audience;
}

void Followers::OnRejoin(const PeerId& peer, std::uint64_t asked_in, const base::Digest& block,
                         base::Time now, std::uint64_t step) {
  OSTRAKA_CHECK(!HasRejoin(peer, asked_in));  // F3
  rejoins_[peer] = {asked_in, block};
  Asked& asked = asked_[peer];
  asked.at = now;
  asked.step = step;
}

bool Followers::HasRejoin(const PeerId& peer, std::uint64_t asked_in) const {
  const auto held = rejoins_.find(peer);
  return held != rejoins_.end() && held->second.asked_in >= asked_in;
}

std::vector<PeerId> Followers::JoinsToConfirm(const wire::Block& head, std::uint64_t step,
                                              const RecentBlocks& recent) const {
  std::vector<PeerId> joins;
  for (const auto& [peer, rejoin] : rejoins_) {
    if (!MayRejoin(head, peer, step)) continue;
    const auto& blocks = recent.all();
    std::uint64_t back = 0;
    for (auto it = blocks.rbegin(); it != blocks.rend() && back < kRejoinBlocks; ++it, ++back) {
      if (it->second.digest != rejoin.block) continue;
      joins.push_back(peer);
      break;
    }
  }
  return joins;
}

bool Followers::Has(const PeerId& peer, std::uint64_t height) const {
  const auto found = asked_.find(peer);
  return found != asked_.end() && found->second.has >= height;
}

void Followers::OnHead(const wire::Block& head) {
  std::erase_if(rejoins_, [&](const auto& rejoin) { return IsMember(head.members, rejoin.first); });
  for (const wire::Standing& standing : head.standings) {
    if (!standing.banned) continue;
    asked_.erase(standing.peer);
    rejoins_.erase(standing.peer);
  }
}

void Followers::Expire(const std::map<PeerId, base::Digest>& commits, std::uint64_t step,
                       base::Time now, base::Duration stay) {
  std::erase_if(asked_, [&](const auto& follower) {
    const bool at_work = commits.contains(follower.first) && step > follower.second.step + 1;
    return at_work || now - follower.second.at > stay;
  });
}

void Followers::CheckInvariants(std::size_t keys) const {
  OSTRAKA_CHECK(asked_.size() <= keys && rejoins_.size() <= keys);
}

}  // namespace ostraka::protocol
