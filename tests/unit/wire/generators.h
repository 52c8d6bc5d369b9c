// Random values of every message for rapidcheck, within its limits. Call them inside a property.
#pragma once

#include "node/wire/block.h"
#include "node/wire/evidence_codec.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

Digest AnyDigest();
PeerId AnyPeer();
Bytes AnyBytes(std::size_t max);
// A slot in which messages of some type are sent; AnySignedSlot: of a signed type.
Slot AnySlot();
Slot AnySignedSlot();

Boot AnyBoot();
Commit AnyCommit();
Part AnyPart();
Aggregate AnyAggregate();
Result AnyResult();
Reveal AnyReveal();
Proof AnyProof();
Echo AnyEcho();
Status AnyStatus();
Propose AnyPropose();
SealVote AnySealVote();
Lock AnyLock();
Rejoin AnyRejoin();
Pull AnyPull();
Vector AnyVector();
BlockMessage AnyBlockMessage();
Chunk AnyChunk();
Forward AnyForward();
Envelope AnyEnvelope();
Envelope AnySignedEnvelope();
Block AnyBlock();
EvidenceFile AnyEvidenceFile();

}  // namespace ostraka::wire
