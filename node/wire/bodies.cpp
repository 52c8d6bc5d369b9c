#include <string_view>

#include "node/wire/codec.h"
#include "node/wire/record_codec.h"
#include "ostraka.capnp.h"

// Each body: its struct, its name in reasons of a refusal.
#define OSTRAKA_BODIES(BODY)  \
  BODY(Boot, "BOOT")          \
  BODY(Commit, "COMMIT")      \
  BODY(Part, "PART")          \
  BODY(Aggregate, "AGG")      \
  BODY(Result, "RESULT")      \
  BODY(Reveal, "REVEAL")      \
  BODY(Proof, "PROOF")        \
  BODY(Echo, "ECHO")          \
  BODY(Status, "STATUS")      \
  BODY(Propose, "PROPOSE")    \
  BODY(SealVote, "VOTE")      \
  BODY(Lock, "LOCK")          \
  BODY(Rejoin, "REJOIN")      \
  BODY(Pull, "PULL")          \
  BODY(Vector, "VECTOR")      \
  BODY(BlockMessage, "BLOCK") \
  BODY(Chunk, "CHUNK")        \
  BODY(Close, "CLOSE")        \
  BODY(Forward, "FORWARD")    \
  BODY(Revocation, "revocation")

namespace ostraka::wire {

// A body arrives only inside a frame, so kMaxFrameBytes bounds its length.
#define OSTRAKA_CODEC(T, name)                                                \
  template <>                                                                 \
  Bytes Encode(const T& body) {                                               \
    return internal::EncodeRecord<schema::T>(body);                           \
  }                                                                           \
  template <>                                                                 \
  base::StatusOr<T> Decode(base::ByteView bytes) {                            \
    return internal::DecodeRecord<schema::T, T>(name, bytes, kMaxFrameBytes); \
  }
OSTRAKA_BODIES(OSTRAKA_CODEC)

}  // namespace ostraka::wire
