// A message type and then any bytes as its body: refused with one line, or exactly the bytes that
// the decoded body encodes to.
#include <algorithm>
#include <cstdint>

#include "node/base/check.h"
#include "node/wire/codec.h"

namespace ostraka::wire {
namespace {

template <typename Body>
void Check(base::ByteView bytes, base::StatusOr<Body> (*decode)(base::ByteView)) {
  const auto decoded = decode(bytes);
  if (!decoded.ok()) {
    OSTRAKA_CHECK(decoded.status().code() == absl::StatusCode::kInvalidArgument);
    OSTRAKA_CHECK(base::MessageOf(decoded.status()).find('\n') == std::string::npos);
    return;
  }
  const Bytes again = Encode(*decoded);
  OSTRAKA_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

void CheckAs(MessageType type, base::ByteView body) {
  switch (type) {
    case MessageType::kBoot:
      return Check(body, Decode<Boot>);
    case MessageType::kCommit:
      return Check(body, Decode<Commit>);
    case MessageType::kPart:
      return Check(body, Decode<Part>);
    case MessageType::kAggregate:
      return Check(body, Decode<Aggregate>);
    case MessageType::kResult:
      return Check(body, Decode<Result>);
    case MessageType::kReveal:
      return Check(body, Decode<Reveal>);
    case MessageType::kProof:
      return Check(body, Decode<Proof>);
    case MessageType::kEcho:
      return Check(body, Decode<Echo>);
    case MessageType::kStatus:
      return Check(body, Decode<SealStatus>);
    case MessageType::kPropose:
      return Check(body, Decode<Propose>);
    case MessageType::kVote:
      return Check(body, Decode<SealVote>);
    case MessageType::kLock:
      return Check(body, Decode<Lock>);
    case MessageType::kClose:
      return Check(body, Decode<Close>);
    case MessageType::kRejoin:
      return Check(body, Decode<Rejoin>);
    case MessageType::kPull:
      return Check(body, Decode<Pull>);
    case MessageType::kVector:
      return Check(body, Decode<Vector>);
    case MessageType::kBlock:
      return Check(body, Decode<BlockMessage>);
    case MessageType::kChunk:
      return Check(body, Decode<Chunk>);
    case MessageType::kForward:
      return Check(body, Decode<Forward>);
  }
}

}  // namespace
}  // namespace ostraka::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto type =
      static_cast<ostraka::wire::MessageType>(data[0] % ostraka::wire::kMessageTypeCount);
  // One byte in, never on a word's boundary, so that the copy to aligned words always runs.
  ostraka::wire::CheckAs(type, {data + 1, size - 1});
  return 0;
}
