// The transport of machines that talk over authenticated links: framed messages, with bulk data
// beside them. The protocol of a run uses it (node/net is the real one).
//
// Promises of the driver
//   L1 `from` and `peer` are authenticated: the other end of the link holds that key. The signer of
//      a frame may be somebody else.
//   L2 Messages without a blob arrive in the order of their Sends while the link stays up. Messages
//      with a blob, or carried, may come later or earlier, and any message may come twice. A
//      carried one may be lost where many wait, and never has the link go down.
//   L3 A Send while the link is down, or to an unknown peer, is dropped without a notice. A link
//      that goes down loses what is under way. On LinkChanged up the machine sends again whatever
//      the peer may lack.
//   L4 The blob of a MessageReceived was checked against the blob's own root, and nothing else of
//      the message was checked. What an attacker can do here: put any bytes into a frame, and any
//      content into a blob that fits its root. Both must be safe for the machine.
//
// Thread safety: plain values.
#pragma once

#include <optional>

#include "crypto/merkle.h"
#include "node/base/bytes.h"
#include "node/base/ids.h"
#include "node/machine/parts.h"

namespace ostraka::machine {

struct MessageReceived {
  base::PeerId from;        // the authenticated peer at the other end of the link, not the signer
  base::SharedBytes frame;  // for the protocol: node/wire/codec.h
  crypto::SharedBlob blob;  // null, or the bulk data that came with the frame
};
struct LinkChanged {
  base::PeerId peer;
  bool up = false;
};
struct Send {
  base::PeerId to;
  base::SharedBytes frame;
  crypto::SharedBlob blob;  // may be null
  // The message is carried: it is passed on for this peer. Null blob.
  std::optional<base::PeerId> carried_for = std::nullopt;
};

struct Links {
  using Inputs = Types<MessageReceived, LinkChanged>;
  using Actions = Types<Send>;
};

}  // namespace ostraka::machine
