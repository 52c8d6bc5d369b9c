// Random values of every message for rapidcheck, within its limits. Call them inside a property.
#pragma once

#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

Digest AnyDigest();
PeerId AnyPeer();
Bytes AnyBytes(std::size_t max);

// A body, an Envelope, a Block, an EvidenceFile or a Handover that decodes once it is encoded.
template <typename Record>
Record Any();
// One of a type that is signed.
Envelope AnySignedEnvelope();

}  // namespace ostraka::wire
