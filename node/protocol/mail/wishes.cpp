#include "node/protocol/mail/wishes.h"

namespace ostraka::protocol {

void Wishes::Tell(const Told& told) {
  if (told.only_dials) only_dials_ = told.only_dials;
  if (told.leave) leave_ = told.leave;
  if (told.revocations) revocations_ = *told.revocations;
  if (told.compute_percent) compute_percent_ = *told.compute_percent;
}

bool Wishes::Leaves(std::uint64_t step) const {
  return leave_ && leave_->from <= step && step < leave_->until;
}

bool Wishes::SaysItLeaves(std::uint64_t step) {
  const bool leaves = Leaves(step);
  said_ = said_ || leaves;
  return leaves;
}

void Wishes::HashInto(crypto::Hasher& hasher) const {
  crypto::Feed(hasher, only_dials_, said_, revocations_, compute_percent_, leave_.has_value());
  if (leave_) crypto::Feed(hasher, leave_->from, leave_->until);
}

}  // namespace ostraka::protocol
