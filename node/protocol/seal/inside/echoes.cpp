#include "node/protocol/seal/inside/echoes.h"

#include <utility>

#include "node/base/check.h"

namespace ostraka::protocol {

bool SealEchoes::EndWait(base::Time now) {
  if (wait_ended_at_) return false;
  wait_ended_at_ = now;
  return true;
}

void SealEchoes::Send(base::Time now, const Digest& value) {
  OSTRAKA_CHECK(wait_ended_at_ && !sent_at_);
  sent_at_ = now;
  own_value_ = value;
  own_vector_known_ = true;
  CheckInvariants();
}

bool SealEchoes::Recall(base::Time now, const Digest& value) {
  if (sent_at_) return false;
  wait_ended_at_ = now;
  sent_at_ = now;
  own_value_ = value;
  CheckInvariants();
  return true;
}

void SealEchoes::KnowOwnVector() {
  own_vector_known_ = true;
  CheckInvariants();
}

bool SealEchoes::Add(const PeerId& sender, wire::Echo echo, base::Time now) {
  OSTRAKA_CHECK(setup_.IsUnmuted(sender));
  if (!echoes_.emplace(sender, Seen{std::move(echo), now}).second) return false;
  if (sender != setup_.self()) lags_[sender] = sent_at_ ? now - *sent_at_ : base::Duration{};
  CheckInvariants();
  return true;
}

void SealEchoes::NameSilent() {
  for (const PeerId& member : setup_.others()) {
    if (!echoes_.contains(member)) silent_.insert(member);
  }
}

void SealEchoes::CheckInvariants() const {
  OSTRAKA_CHECK(!sent_at_ || (wait_ended_at_ && !setup_.muted()));  // E1
  OSTRAKA_CHECK(!own_vector_known_ || sent_at_);
  for (const auto& [sender, echo] : echoes_) {
    OSTRAKA_CHECK(setup_.IsUnmuted(sender));                             // E2
    OSTRAKA_CHECK(lags_.contains(sender) == (sender != setup_.self()));  // E3
  }
  OSTRAKA_CHECK(lags_.size() == echoes_.size() - echoes_.count(setup_.self()));
}

void SealEchoes::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, wait_ended_at_, sent_at_, own_value_, own_vector_known_, echoes_, lags_,
               silent_);
}

}  // namespace ostraka::protocol
