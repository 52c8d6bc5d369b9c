// Converts between bytes and message structs, with limits on everything that a peer can make grow.
//
// A frame is a signature (64 bytes; zero for a service) followed by the core bytes. The core is an
// unpacked Cap'n Proto message of node/wire/ostraka.capnp. Signatures and hashes cover the core
// bytes as received, never a re-encoding.
//
// Promises:
// - Decoders take any bytes. They return InvalidArgument with a reason, never throw, never crash,
//   and allocate no more than a small multiple of the frame's size.
// - A value has one encoding: whatever decodes encodes to equal bytes (docs/wire.md, canonical
//   form).
// - Encoders take any value. A value over the limits encodes to bytes that every decoder refuses,
//   so the code that fills a message must respect the limits.
// - A slot that no honest peer signs is refused: a phase that does not fit the type, or a draw or
//   iteration that the type does not use.
//
// Thread safety: pure functions.
#pragma once

#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

// Encodes `envelope` and signs it with `key`.
// REQUIRES: key.id() == envelope.sender; !IsService(envelope.slot.type).
SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key);

// The frame of a service. REQUIRES: IsService(envelope.slot.type).
base::SharedBytes EncodeService(const Envelope& envelope);

// The digest that a signature of `envelope` would cover. A write-ahead record names it before the
// signature exists.
Digest DigestOf(const Envelope& envelope);

// Decodes and bounds-checks a frame (null is refused) and computes its digest. Checks only the
// length of the body and leaves it encoded. Does NOT verify the signature: the caller verifies it
// before it trusts the message, so that cheap checks come first. A frame with 64 zero bytes in
// place of a signature opens if and only if it is a service's, so the type alone tells whether
// there is a signature to verify.
base::StatusOr<SignedEnvelope> Open(base::SharedBytes frame);

// Only for runs with `swarm --unprotected`: the bare core bytes, no signature, no hash.
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
Bytes Encode(const Forward& body);

// As people pass it on, outside of a COMMIT.
Bytes Encode(const Revocation& revocation);
base::StatusOr<Revocation> DecodeRevocation(base::ByteView bytes);

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
base::StatusOr<Forward> DecodeForward(base::ByteView body);

}  // namespace ostraka::wire
