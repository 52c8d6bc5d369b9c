// What attacks on messages share: reading an own frame and signing another in its place.
//
// Thread safety: a FrameReader has one owner.
#pragma once

#include <functional>
#include <optional>

#include "crypto/sign.h"
#include "node/protocol/machine.h"
#include "node/wire/codec.h"

namespace ostraka::sim {

// Opens the frames of Sends. A broadcast is one frame sent many times: it is opened once.
class FrameReader {
 public:
  // Null if `action` is no Send, or its frame does not open (unprotected runs). Valid until the
  // next call.
  const wire::SignedEnvelope* Read(const protocol::Action& action) {
    const auto* send = std::get_if<protocol::Send>(&action);
    if (!send) return nullptr;
    if (send->frame != last_) {
      last_ = send->frame;
      auto opened = wire::Open(send->frame);
      message_ = opened.ok() ? std::optional(std::move(opened).value()) : std::nullopt;
    }
    return message_ ? &*message_ : nullptr;
  }

 private:
  base::SharedBytes last_;
  std::optional<wire::SignedEnvelope> message_;
};

}  // namespace ostraka::sim
