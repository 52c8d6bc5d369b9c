#include "node/protocol/seal/seal_gate.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

SealGate::SealGate(std::vector<PeerId> unmuted, std::size_t quorum)
    : unmuted_(std::move(unmuted)), quorum_(quorum) {
  OSTRAKA_CHECK(quorum_ > 0);
  OSTRAKA_CHECK(std::is_sorted(unmuted_.begin(), unmuted_.end()));
}

bool SealGate::Add(const PeerId& sender, base::SharedBytes frame) {
  if (!std::binary_search(unmuted_.begin(), unmuted_.end(), sender)) return false;
  return closers_.emplace(sender, std::move(frame)).second;
}

void SealGate::Pass() {
  OSTRAKA_CHECK(open());
  passed_ = true;
}

const base::SharedBytes* SealGate::FrameOf(const PeerId& member) const {
  const auto found = closers_.find(member);
  return found == closers_.end() ? nullptr : &found->second;
}

std::vector<PeerId> SealGate::Lacking() const {
  std::vector<PeerId> lacking;
  for (const PeerId& member : unmuted_) {
    if (!closers_.contains(member)) lacking.push_back(member);
  }
  return lacking;
}

std::vector<base::SharedBytes> SealGate::FramesToForward(const PeerId& self) const {
  OSTRAKA_CHECK(open());
  std::vector<base::SharedBytes> frames;
  std::size_t counted = 0;
  for (const auto& [member, frame] : closers_) {
    if (counted++ == quorum_) break;
    if (member != self) frames.push_back(frame);
  }
  return frames;
}

void SealGate::CheckInvariants() const {
  OSTRAKA_CHECK(!passed_ || open());
  OSTRAKA_CHECK(closers_.size() <= unmuted_.size());
  for (const auto& [member, frame] : closers_) {
    OSTRAKA_CHECK(std::binary_search(unmuted_.begin(), unmuted_.end(), member));
  }
}

void SealGate::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, closers_, passed_); }

}  // namespace ostraka::protocol
