#include "node/protocol/seal/inside/repeats.h"

#include <bit>

#include "node/base/check.h"

namespace ostraka::protocol {

bool SealRepeats::TakeDue(base::Time now, base::Time began, base::Duration step) {
  if (!next_) next_ = began + step;
  if (*next_ > now) return false;
  next_ = now + step;
  return true;
}

bool SealRepeats::OnRepeat(bool close) {
  OSTRAKA_CHECK(next_.has_value());  // W1
  ++count_;
  return !close || std::has_single_bit(count_) || count_ % 16 == 0;
}

void SealRepeats::Stop() {
  next_.reset();
  count_ = 0;
}

void SealRepeats::HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, next_, count_); }

}  // namespace ostraka::protocol
