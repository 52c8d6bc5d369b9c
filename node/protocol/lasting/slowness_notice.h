// Tells people that this member is slow: an honest machine that is too slow is not dropped without
// a warning.
//
// Promises:
//   O1  People are told at each block while this member is slow, and once when it no longer is.
//
// May not know: how lateness is measured or charged.
//
// Memory: a flag.
//
// What an attacker can do here: nothing. It reads the sealed lateness of this member.
//
// Thread safety: none; one owner.
#pragma once

#include "crypto/hash_into.h"
#include "node/protocol/ground/manifest.h"
#include "node/protocol/mail/turn.h"
#include "node/protocol/rules/lateness.h"

namespace ostraka::protocol {

class SlownessNotice {
 public:
  void HashInto(crypto::Hasher& hasher) const { crypto::Feed(hasher, told_); }
  friend struct FingerprintProbe;

  // `head` is new. Says once that the member is no longer slow.
  void Tell(const Turn& turn, const wire::Block& head, const Manifest& manifest,
            const PeerId& self) {
    Slow slow;
    slow.step = head.step;
    slow.used_ms = LatenessOf(head, self);
    slow.allowed_ms = AllowanceMs(head, manifest);
    if (slow.Lasts() || told_) turn.Do(Observe{slow});
    told_ = slow.Lasts();
  }

 private:
  bool told_ = false;
};

}  // namespace ostraka::protocol
