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
      return Check(body, DecodeBoot);
    case MessageType::kCommit:
      return Check(body, DecodeCommit);
    case MessageType::kPart:
      return Check(body, DecodePart);
    case MessageType::kAggregate:
      return Check(body, DecodeAggregate);
    case MessageType::kResult:
      return Check(body, DecodeResult);
    case MessageType::kReveal:
      return Check(body, DecodeReveal);
    case MessageType::kProof:
      return Check(body, DecodeProof);
    case MessageType::kEcho:
      return Check(body, DecodeEcho);
    case MessageType::kStatus:
      return Check(body, DecodeStatus);
    case MessageType::kPropose:
      return Check(body, DecodePropose);
    case MessageType::kVote:
      return Check(body, DecodeSealVote);
    case MessageType::kLock:
      return Check(body, DecodeLock);
    case MessageType::kClose:
      return Check(body, DecodeClose);
    case MessageType::kRejoin:
      return Check(body, DecodeRejoin);
    case MessageType::kPull:
      return Check(body, DecodePull);
    case MessageType::kVector:
      return Check(body, DecodeVector);
    case MessageType::kBlock:
      return Check(body, DecodeBlockMessage);
    case MessageType::kChunk:
      return Check(body, DecodeChunk);
    case MessageType::kForward:
      return Check(body, DecodeForward);
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
