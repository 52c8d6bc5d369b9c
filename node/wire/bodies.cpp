#include <string_view>

#include "node/wire/codec.h"
#include "node/wire/record_codec.h"
#include "ostraka.capnp.h"

// Each body: its MessageType, its struct, its name in reasons of a refusal.
#define OSTRAKA_BODIES(BODY)          \
  BODY(kBoot, Boot, "BOOT")           \
  BODY(kCommit, Commit, "COMMIT")     \
  BODY(kPart, Part, "PART")           \
  BODY(kAggregate, Aggregate, "AGG")  \
  BODY(kResult, Result, "RESULT")     \
  BODY(kReveal, Reveal, "REVEAL")     \
  BODY(kProof, Proof, "PROOF")        \
  BODY(kEcho, Echo, "ECHO")           \
  BODY(kStatus, SealStatus, "STATUS") \
  BODY(kPropose, Propose, "PROPOSE")  \
  BODY(kVote, SealVote, "VOTE")       \
  BODY(kLock, Lock, "LOCK")           \
  BODY(kRejoin, Rejoin, "REJOIN")     \
  BODY(kPull, Pull, "PULL")           \
  BODY(kVector, Vector, "VECTOR")     \
  BODY(kBlock, BlockMessage, "BLOCK") \
  BODY(kChunk, Chunk, "CHUNK")        \
  BODY(kClose, Close, "CLOSE")        \
  BODY(kForward, Forward, "FORWARD")

namespace ostraka::wire {

// A body arrives only inside a frame, so kMaxFrameBytes bounds its length.
#define OSTRAKA_CODEC(type, T, name)                                          \
  template <>                                                                 \
  Bytes Encode(const T& body) {                                               \
    return internal::EncodeRecord<schema::T>(body);                           \
  }                                                                           \
  template <>                                                                 \
  base::StatusOr<T> Decode(base::ByteView bytes) {                            \
    return internal::DecodeRecord<schema::T, T>(name, bytes, kMaxFrameBytes); \
  }
OSTRAKA_BODIES(OSTRAKA_CODEC)
OSTRAKA_CODEC(, Revocation, "revocation")

namespace {

template <typename T>
Body AsBody(base::StatusOr<T> decoded) {
  if (!decoded.ok()) return Unreadable{base::MessageOf(decoded.status())};
  return *std::move(decoded);
}

}  // namespace

Body DecodeBody(MessageType type, base::ByteView bytes) {
#define OSTRAKA_CASE(type, T, name) \
  case MessageType::type:           \
    return AsBody(Decode<T>(bytes));
  switch (type) { OSTRAKA_BODIES(OSTRAKA_CASE) }
  return Unreadable{"a message of no type"};
}

}  // namespace ostraka::wire
