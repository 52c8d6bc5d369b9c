#include "node/net/reach/seeker.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::net {

void Seeker::Add(base::Time now, const base::PeerId& peer) {
  members_.try_emplace(peer, Sought{.due = now});
}

void Seeker::Remove(const base::PeerId& peer) { members_.erase(peer); }

void Seeker::OnLink(base::Time now, const base::PeerId& peer, bool up) {
  const auto member = members_.find(peer);
  if (member == members_.end()) return;
  Sought& sought = member->second;
  if (sought.up && !up) {
    sought.due = now + kFirst;
    sought.wait = kAgain;
  }
  sought.up = up;
}

void Seeker::OnJoined(base::Time now) {
  for (auto& [peer, sought] : members_) {
    if (sought.up) continue;
    sought.due = std::min(sought.due, now);
    sought.wait = kAgain;
  }
}

std::vector<base::PeerId> Seeker::Due(base::Time now) {
  std::vector<std::pair<base::Time, base::PeerId>> due;
  std::size_t asked = 0;
  for (const auto& [peer, sought] : members_) {
    asked += sought.asked ? 1 : 0;
    if (!sought.up && !sought.asked && sought.due <= now) due.emplace_back(sought.due, peer);
  }
  std::sort(due.begin(), due.end());
  std::vector<base::PeerId> begin;
  for (const auto& [since, peer] : due) {
    if (asked + begin.size() == kMostAtOnce) break;
    members_.at(peer).asked = true;
    begin.push_back(peer);
  }
  CheckInvariants();
  return begin;
}

void Seeker::OnEnded(base::Time now, const base::PeerId& peer) {
  const auto member = members_.find(peer);
  if (member == members_.end() || !member->second.asked) return;
  Sought& sought = member->second;
  sought.asked = false;
  sought.due = now + sought.wait;
  sought.wait = std::min(sought.wait * 2, kLongest);
}

std::size_t Seeker::linked() const {
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(),
                                                [](const auto& entry) { return entry.second.up; }));
}

void Seeker::CheckInvariants() const {
  const auto asked = std::count_if(members_.begin(), members_.end(),
                                   [](const auto& entry) { return entry.second.asked; });
  OSTRAKA_CHECK(static_cast<std::size_t>(asked) <= kMostAtOnce);  // K2
  for (const auto& [peer, sought] : members_) {
    OSTRAKA_CHECK(sought.wait >= kAgain && sought.wait <= kLongest);
  }
}

}  // namespace ostraka::net
