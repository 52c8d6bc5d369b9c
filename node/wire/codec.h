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

#include <concepts>

#include "node/base/status.h"
#include "node/wire/messages.h"

namespace ostraka::wire {

template <typename T, typename... Types>
concept IsAnyOf = (std::same_as<T, Types> || ...);

// Encodes `envelope` and signs it with `key`.
// REQUIRES: key.id() == envelope.sender; !IsService(envelope.slot.type).
SignedEnvelope Seal(Envelope envelope, const crypto::SigningKey& key);

// The frame of a service. REQUIRES: IsService(envelope.slot.type).
base::SharedBytes EncodeService(const Envelope& envelope);

// The digest that a signature of `envelope` would cover. A write-ahead record names it before the
// signature exists.
Digest DigestOf(const Envelope& envelope);

// Decodes and bounds-checks a frame (null is refused) and its body, and computes its digest. A
// frame with an unreadable body opens: its signer is to blame. Does NOT verify the signature: the
// caller verifies it before it trusts the message, so that cheap checks come first. A frame with 64
// zero bytes in place of a signature opens if and only if it is a service's, so the type alone
// tells whether there is a signature to verify.
base::StatusOr<SignedEnvelope> Open(base::SharedBytes frame);

// Only for runs with `swarm --unprotected`: the bare core bytes, no signature, no hash.
base::SharedBytes EncodeUnsigned(const Envelope& envelope);
base::StatusOr<Envelope> OpenUnsigned(base::ByteView frame);

// The records that bytes of their own carry: each MessageType's body, and a revocation, which
// people pass on outside of a COMMIT too.
template <typename T>
concept Encodable =
    IsAnyOf<T, Boot, Commit, Part, Aggregate, Result, Reveal, Proof, Echo, SealStatus, Propose,
            SealVote, Lock, Rejoin, Pull, Vector, BlockMessage, Chunk, Close, Forward, Revocation>;

template <Encodable T>
Bytes Encode(const T& body);
template <Encodable T>
base::StatusOr<T> Decode(base::ByteView body);
// Decodes a body of any type; Unreadable with the reason if it is none.
Body DecodeBody(MessageType type, base::ByteView body);

}  // namespace ostraka::wire
