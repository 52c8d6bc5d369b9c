// Bytes <-> message structs, with limits on everything a peer can make grow.
//
// A frame is signature (64 bytes; of a service 64 zero bytes) | core bytes. The core is a Cap'n
// Proto message (never packed) of node/wire/ostraka.capnp; signatures and hashes are of the core
// bytes as received, never of a re-encoding. Decoders take any bytes: they return InvalidArgument
// with a reason, never throw, never crash, and allocate no more than a small multiple of the
// frame's size.
//
// A value has one encoding: whatever decodes encodes to the same bytes (docs/wire.md, canonical
// form). Encoders take any value; one over the limits encodes to bytes that every decoder refuses,
// so whoever fills a message minds the limits. A slot that no honest peer signs is refused too: a
// phase that does not fit the type, or a draw or iteration where there is none.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

// Encodes `envelope`, signs it with `key`.
// REQUIRES: key.id() == envelope.sender; !IsService(envelope.slot.type).
SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key);

// The frame of a service. REQUIRES: IsService(envelope.slot.type).
base::SharedBytes EncodeService(const Envelope& envelope);

// The digest that signing `envelope` will cover: what a write-ahead record names before the
// signature exists.
Digest DigestOf(const Envelope& envelope);

// Decodes and bounds-checks a frame (null is refused too), and computes its digest. The body stays
// encoded: only its length is checked. Does NOT verify the signature: the caller does, with its
// Verifier, before it believes a word (so that cheap checks come first). A service has no signature
// and everything else has one: a frame with 64 zero bytes for a signature opens if and only if it
// is a service's, so the type alone tells whether there is something to verify.
base::StatusOr<SignedEnvelope> Open(base::SharedBytes frame);

// Unprotected runs only (`swarm --unprotected`): the core bytes alone, no signature, no hash.
base::SharedBytes EncodeUnsigned(const Envelope& envelope);
base::StatusOr<Envelope> OpenUnsigned(base::ByteView frame);

Bytes Encode(const Boot& body);
Bytes Encode(const Commit& body);
Bytes Encode(const Part& body);
Bytes Encode(const Aggregate& body);
Bytes Encode(const Result& body);
Bytes Encode(const Reveal& body);
Bytes Encode(const Proof& body);
Bytes Encode(const Echo& body);
Bytes Encode(const Status& body);
Bytes Encode(const Propose& body);
Bytes Encode(const SealVote& body);
Bytes Encode(const Lock& body);
Bytes Encode(const Close& body);
Bytes Encode(const Rejoin& body);
Bytes Encode(const Pull& body);
Bytes Encode(const Vector& body);
Bytes Encode(const BlockMessage& body);
Bytes Encode(const Chunk& body);

base::StatusOr<Boot> DecodeBoot(base::ByteView body);
base::StatusOr<Commit> DecodeCommit(base::ByteView body);
base::StatusOr<Part> DecodePart(base::ByteView body);
base::StatusOr<Aggregate> DecodeAggregate(base::ByteView body);
base::StatusOr<Result> DecodeResult(base::ByteView body);
base::StatusOr<Reveal> DecodeReveal(base::ByteView body);
base::StatusOr<Proof> DecodeProof(base::ByteView body);
base::StatusOr<Echo> DecodeEcho(base::ByteView body);
base::StatusOr<Status> DecodeStatus(base::ByteView body);
base::StatusOr<Propose> DecodePropose(base::ByteView body);
base::StatusOr<SealVote> DecodeSealVote(base::ByteView body);
base::StatusOr<Lock> DecodeLock(base::ByteView body);
base::StatusOr<Close> DecodeClose(base::ByteView body);
base::StatusOr<Rejoin> DecodeRejoin(base::ByteView body);
base::StatusOr<Pull> DecodePull(base::ByteView body);
base::StatusOr<Vector> DecodeVector(base::ByteView body);
base::StatusOr<BlockMessage> DecodeBlockMessage(base::ByteView body);
base::StatusOr<Chunk> DecodeChunk(base::ByteView body);

}  // namespace ostraka::wire
