// Bytes <-> message structs, with limits on everything a peer can make grow.
//
// A frame is signature (64 bytes) | core bytes. The core is a Cap'n Proto message (never packed) of
// node/wire/ostraka.capnp; signatures and hashes are of the core bytes as received, never of a
// re-encoding. Decoders take any bytes: they return InvalidArgument with a reason, never throw,
// never crash, and allocate no more than a small multiple of the frame's size.
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

// Encodes `envelope`, signs it with `key` (REQUIRES: key.id() == envelope.sender).
SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key);

// The digest that signing `envelope` will cover: what a write-ahead record names before the
// signature exists.
Digest DigestOf(const Envelope& envelope);

// Decodes and bounds-checks a frame (null is refused too), and computes its digest. The body stays
// encoded: only its length is checked. Does NOT verify the signature: the caller does, with its
// Verifier, before it believes a word (so that cheap checks come first).
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

base::StatusOr<Boot> DecodeBoot(base::ByteView body);
base::StatusOr<Commit> DecodeCommit(base::ByteView body);
base::StatusOr<Part> DecodePart(base::ByteView body);
base::StatusOr<Aggregate> DecodeAggregate(base::ByteView body);
base::StatusOr<Result> DecodeResult(base::ByteView body);
base::StatusOr<Reveal> DecodeReveal(base::ByteView body);
base::StatusOr<Proof> DecodeProof(base::ByteView body);
base::StatusOr<Echo> DecodeEcho(base::ByteView body);

}  // namespace ostraka::wire
