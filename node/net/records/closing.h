// How a connection ends: the reason that is kept and told, and the code that is sent.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>

#include "node/net/records/refusal.h"

namespace ostraka::net {

// Codes of the WebSocket close frame, in the range for private use (RFC 6455, 7.4.2).
enum class CloseCode : std::uint16_t {
  kDuplicate = 4000,  // another connection is the link
  kRefused = 4001,    // because of the other side's identity or behaviour
  kLeaving = 4002,    // nothing more is needed: this node shuts down, or the other side was removed
  kSlow = 4003,       // the other side reads too slowly
};

// Why a connection can no longer be used.
struct Closing {
  enum class Why : std::uint8_t {
    kRefused,    // by us, because of the other side's identity, action or omission
    kLost,       // ended by the network or the other side, without or with a reason of its own
    kLeft,       // the other side needs nothing more from us (CloseCode::kLeaving)
    kDuplicate,  // one of the two sides has another connection as the link
    kLocal,      // by us, for a local reason
  };
  // The other side proved to be of another run, protocol or mode, or to have another key.
  bool IsOfAnother() const { return why == Why::kRefused && refusal == Refusal::kIdentity; }

  Why why = Why::kLocal;
  std::string reason;                  // one line about the other side; printable
  Refusal refusal = Refusal::kRecord;  // if kRefused
};

}  // namespace ostraka::net
