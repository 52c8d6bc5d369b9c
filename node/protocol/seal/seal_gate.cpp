#include "node/protocol/seal/seal_gate.h"

#include <algorithm>
#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

SealGate::SealGate(std::vector<PeerId> awake, std::size_t quorum)
    : awake_(std::move(awake)), quorum_(quorum) {
  OSTRAKA_CHECK(quorum_ > 0);
  OSTRAKA_CHECK(std::is_sorted(awake_.begin(), awake_.end()));
}

bool SealGate::Add(const PeerId& sender, base::SharedBytes frame) {
  if (!std::binary_search(awake_.begin(), awake_.end(), sender)) return false;
  return closers_.emplace(sender, std::move(frame)).second;
}

std::vector<PeerId> SealGate::Lacking() const {
  std::vector<PeerId> lacking;
  for (const PeerId& member : awake_) {
    if (!closers_.contains(member)) lacking.push_back(member);
  }
  return lacking;
}

std::vector<base::SharedBytes> SealGate::FramesToForward(const PeerId& self) const {
  OSTRAKA_CHECK(passed());
  std::vector<base::SharedBytes> frames;
  std::size_t counted = 0;
  for (const auto& [member, frame] : closers_) {
    if (counted++ == quorum_) break;
    if (member != self) frames.push_back(frame);
  }
  return frames;
}

void SealGate::CheckInvariants() const {
  OSTRAKA_CHECK(closers_.size() <= awake_.size());
  for (const auto& [member, frame] : closers_) {
    OSTRAKA_CHECK(std::binary_search(awake_.begin(), awake_.end(), member));
  }
}

}  // namespace ostraka::protocol
