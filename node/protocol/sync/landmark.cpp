#include "node/protocol/sync/landmark.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/ground/roles.h"

namespace ostraka::protocol {

using base::Digest;
using base::PeerId;
using base::Time;

Landmark::Landmark(std::shared_ptr<const wire::Block> judged_by, std::uint64_t height,
                   const Digest& digest, base::Duration patience)
    : judged_by_(std::move(judged_by)), height_(height), digest_(digest), patience_(patience) {}

std::vector<PeerId> Landmark::WhomToAsk(Time now,
                                        const std::function<bool(const PeerId&)>& can_hear) {
  std::vector<PeerId> whom;
  if (!begun_) begun_ = now;
  wake_.reset();
  for (const PeerId& member : judged_by_->members) {
    if (answers_.contains(member) || !can_hear(member)) continue;
    Asked& asked = asked_.try_emplace(member, Asked{now, now, 0}).first->second;
    // A link that broke may have taken the answer with it.
    const Time again = asked.last + patience_ * kAskAgain;
    if (asked.times == 0 || (asked.times < kAsks && now >= again)) {
      if (!since_) since_ = now;
      asked.last = now;
      ++asked.times;
      whom.push_back(member);
    }
    if (now < asked.first + patience_) WakeAt(asked.first + patience_);
    if (asked.times < kAsks) WakeAt(asked.last + patience_ * kAskAgain);
  }
  if (now < Latest()) WakeAt(Latest());
  CheckInvariants();
  return whom;
}

void Landmark::WakeAt(Time time) { wake_ = std::min(wake_.value_or(time), time); }

base::Time Landmark::Latest() const {
  return since_ ? *since_ + patience_ * kLongest : *begun_ + patience_ * (2 * kLongest);
}

bool Landmark::Waits(Time now) const {
  if (!begun_) return true;
  if (now >= Latest()) return false;
  if (answers_.size() <= FaultBound(judged_by_->thresholds)) return true;
  return std::any_of(asked_.begin(), asked_.end(), [&](const auto& entry) {
    return now < entry.second.first + patience_ && !answers_.contains(entry.first);
  });
}

void Landmark::OnAnswer(const PeerId& from, const Digest& digest) {
  if (IsMember(judged_by_->members, from)) answers_.try_emplace(from, digest);
  CheckInvariants();
}

std::size_t Landmark::CountOfOthers() const {
  return static_cast<std::size_t>(
      std::count_if(answers_.begin(), answers_.end(),
                    [this](const auto& answer) { return answer.second != digest_; }));
}

void Landmark::CheckInvariants() const {
  OSTRAKA_CHECK(answers_.size() <= judged_by_->members.size());
  for (const auto& [member, asked] : asked_) {
    OSTRAKA_CHECK(asked.times <= kAsks && IsMember(judged_by_->members, member));
  }
}

void Landmark::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, height_, digest_, answers_, asked_, begun_, since_, wake_);
}

}  // namespace ostraka::protocol
