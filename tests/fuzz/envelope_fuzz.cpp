// Any bytes as a frame, signed and unsigned: refused with one line, or exactly the bytes that the
// envelope encodes to. Many inputs are validly signed by the corpus's key (envelope_mutator.cpp).
#include <algorithm>
#include <cstdint>
#include <memory>

#include "crypto/sign.h"
#include "node/base/check.h"
#include "node/wire/codec.h"
#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire {
namespace {

void CheckOneLine(const base::Status& status) {
  OSTRAKA_CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  OSTRAKA_CHECK(!status.message().empty());
  OSTRAKA_CHECK(base::MessageOf(status).find('\n') == std::string::npos);
}

void CheckUnsigned(base::ByteView frame) {
  const auto opened = OpenUnsigned(frame);
  if (!opened.ok()) return CheckOneLine(opened.status());
  const base::SharedBytes again = EncodeUnsigned(*opened);
  OSTRAKA_CHECK(std::equal(again->begin(), again->end(), frame.begin(), frame.end()));
}

// Signing again gives an equal signature: nobody else can make a second one.
void CheckSignature(const SignedEnvelope& message) {
  static const crypto::SigningKey kKey = SampleKey(1);
  crypto::PlainVerifier verifier;
  if (IsService(message.envelope.slot.type) || message.envelope.sender != kKey.id()) return;
  // Costs a hundred times as much as decoding, so one in sixteen is checked.
  if (message.signature.bytes[0] % 16 != 0) return;
  const bool good = verifier.Verify(kKey.id(), message.digest, message.signature);
  OSTRAKA_CHECK(good == (*Seal(message.envelope, kKey).frame == *message.frame));
}

void CheckSigned(base::ByteView bytes) {
  const auto frame = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  const auto opened = Open(frame);
  if (!opened.ok()) return CheckOneLine(opened.status());
  OSTRAKA_CHECK(frame->size() <= kMaxFrameBytes);
  OSTRAKA_CHECK(opened->frame == frame);
  OSTRAKA_CHECK(opened->digest == DigestOf(opened->envelope));
  OSTRAKA_CHECK(IsService(opened->envelope.slot.type) ==
                (opened->signature == crypto::Signature{}));
  CheckSignature(*opened);
  CheckUnsigned(base::ByteView(*frame).subspan(crypto::Signature::kSize));
}

}  // namespace
}  // namespace ostraka::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ostraka::wire::CheckSigned({data, size});
  ostraka::wire::CheckUnsigned({data, size});
  // A core that does not begin on a word's boundary.
  if (size > 0) ostraka::wire::CheckUnsigned({data + 1, size - 1});
  return 0;
}
