#include "node/net/link/lifecycle.h"

#include "node/base/check.h"

namespace ostraka::net {
namespace {

// RFC 6455, 7.4.1: what a side answers to a close.
constexpr std::uint16_t kNormalClose = 1000;

bool MayFollow(Lifecycle::Phase from, Lifecycle::Phase to) {
  using Phase = Lifecycle::Phase;
  switch (to) {
    case Phase::kHandshake:
      return false;
    case Phase::kGreeting:
      return from == Phase::kHandshake;
    case Phase::kLink:
      return from == Phase::kGreeting;
    case Phase::kClosing:
      return from < Phase::kClosing;
    case Phase::kGone:
      return from == Phase::kClosing;
  }
  return false;
}

}  // namespace

void Lifecycle::Advance(Phase next) {
  OSTRAKA_CHECK(MayFollow(phase_, next));  // L1
  phase_ = next;
}

void Lifecycle::Leave(const std::string& reason) {
  OSTRAKA_CHECK(phase_ == Phase::kLink);
  leaving_ = reason;
}

bool Lifecycle::Close(const Closing& why, bool all_written) {
  if (closing()) return false;  // L2
  all_written_ = leaving_.has_value() && all_written;
  Advance(Phase::kClosing);
  why_ = why;
  return true;
}

void Lifecycle::OnCloseAnswered(std::uint16_t code) {
  OSTRAKA_CHECK(phase_ == Phase::kClosing);
  const bool is_answer = code == kNormalClose;
  const bool has_left = code == static_cast<std::uint16_t>(CloseCode::kLeaving);
  delivered_ = (is_answer && all_written_) || has_left;  // L3
}

bool Lifecycle::End() {
  OSTRAKA_CHECK(closing());
  if (phase_ == Phase::kGone) return false;
  Advance(Phase::kGone);
  return true;
}

const Closing& Lifecycle::why() const {
  OSTRAKA_CHECK(closing());
  return why_;
}

}  // namespace ostraka::net
