#include "dht/reachability.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::dht {

void Reachability::BeginRound(base::Time now) {
  OSTRAKA_CHECK(IsDue(now));
  next_ = now + (server_ ? kRenewal : kAgain);
}

void Reachability::BeginTest(base::Time now, const Nonce& mark, const Endpoint& helper) {
  if (open_.size() == kMostOpen) open_.erase(open_.begin());
  open_.push_back({mark, NarrowPrefix(helper), now + kOpen});
}

void Reachability::OnSent(base::Time now, const Endpoint& to) {
  if (role_ != Role::kAuto) return;
  sent_to_[NarrowPrefix(to)] = now;
  if (sent_to_.size() <= kMostPrefixes) return;
  std::erase_if(sent_to_, [now](const auto& entry) { return now - entry.second > kQuiet; });
  if (sent_to_.size() <= kMostPrefixes) return;
  sent_to_.erase(
      std::min_element(sent_to_.begin(), sent_to_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; }));
}

void Reachability::OnPing(base::Time now, const Nonce& nonce, const Endpoint& from) {
  const auto test = std::find_if(open_.begin(), open_.end(),
                                 [&nonce](const Test& one) { return one.mark == nonce; });
  if (test == open_.end()) return;
  const auto sent = sent_to_.find(NarrowPrefix(from));
  if (sent != sent_to_.end() && now - sent->second <= kQuiet) return;
  std::erase_if(passed_, [&test](const Passed& one) { return one.helper == test->helper; });
  passed_.push_back({test->helper, now});
  open_.erase(test);
}

bool Reachability::Update(base::Time now) {
  std::erase_if(open_, [now](const Test& one) { return one.until <= now; });
  std::erase_if(passed_, [now](const Passed& one) { return now - one.at > kValid; });
  const bool before = server_;
  server_ = passed_.size() >= (server_ ? 1 : kNeeded);
  if (server_ && !before) next_ = now + kRenewal;
  return server_ != before;
}

void Reachability::CheckInvariants() const {
  OSTRAKA_CHECK(open_.size() <= kMostOpen && sent_to_.size() <= kMostPrefixes);
  OSTRAKA_CHECK(!server_ || !passed_.empty());
}

}  // namespace ostraka::dht
