// The timer after which a member asks for what is missing. Not every gap is a fault: messages
// overtake each other, so a gap is given a moment first.
//
// Promises:
//   P1  An armed timer is never put off, only brought forward.
//   P2  attempts() counts the rounds of requests since the last Restart.
//
// May not know: what is missing, and from whom.
//
// Memory: two figures. What an attacker can do here: nothing.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <optional>

#include "crypto/hash_into.h"
#include "node/protocol/mail/timers.h"
#include "node/protocol/mail/turn.h"

namespace ostraka::protocol {

class PullTimer {
 public:
  explicit PullTimer(const Turn& turn) : turn_(turn) {}
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, at_, attempts_); }
  friend struct FingerprintProbe;

  void Arm(Duration after) {
    const Time at = turn_.now() + after;
    if (at_ && *at_ <= at) return;  // P1
    at_ = at;
    turn_.Do(SetTimer{kPullTimer, at});
  }
  // It is not armed any more; the driver's timer is the caller's to cancel.
  void Disarm() { at_.reset(); }
  void Restart() { attempts_ = 0; }
  // It fires. When it was to fire; nullopt if it was not armed.
  std::optional<Time> Fire() {
    const std::optional<Time> at = at_;
    at_.reset();
    return at;
  }
  // A round of requests has gone out.
  void CountAttempt() { ++attempts_; }
  std::uint32_t attempts() const { return attempts_; }

 private:
  const Turn& turn_;
  std::optional<Time> at_;
  std::uint32_t attempts_ = 0;
};

}  // namespace ostraka::protocol
