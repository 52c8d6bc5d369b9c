#include "node/protocol/seal/inside/decision.h"

#include <algorithm>

#include "node/base/check.h"

namespace ostraka::protocol {

void SealDecision::Make(const Digest& value, const Signers& signers, const PeerId& self) {
  OSTRAKA_CHECK(!made());
  value_ = value;
  for (const auto& [sender, frame] : signers) {
    certificate_.push_back(frame);
    if (sender != self) witnesses_.push_back(sender);
  }
  CheckInvariants();
}

std::vector<SealFrame> SealDecision::SignedBy(const PeerId& self) const {
  std::vector<PeerId> signers = witnesses_;
  if (signers.size() < certificate_.size()) {
    signers.insert(std::lower_bound(signers.begin(), signers.end(), self), self);
  }
  OSTRAKA_CHECK(signers.size() == certificate_.size());  // Make filled both in the order of keys
  std::vector<SealFrame> frames;
  for (std::size_t i = 0; i < signers.size(); ++i) frames.push_back({signers[i], certificate_[i]});
  return frames;
}

void SealDecision::Resolve(const SealValues& values) {
  OSTRAKA_CHECK(made());
  if (vector_) return;
  const SealVector* vector = values.Find(*value_);
  if (vector != nullptr && values.HoldsAll(*vector)) vector_ = *vector;
}

bool SealDecision::NoteAsked() {
  alone_ = asked_;
  asked_ = true;
  return alone_;
}

void SealDecision::CheckInvariants() const {
  OSTRAKA_CHECK(made() == !certificate_.empty());
  OSTRAKA_CHECK(!vector_ || made());
}

void SealDecision::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, value_, certificate_, witnesses_, vector_, asked_, alone_);
}

}  // namespace ostraka::protocol
