// Properties of every message: decoding an encoded value gives equal fields, and no two values
// share an encoding.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/wire/fields.h"
#include "tests/unit/wire/generators.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire::round_trip_test {
namespace {

template <typename Value, typename Encoder, typename Decoder>
void CheckRoundTrip(const Value& value, Encoder encode, Decoder decode) {
  const Bytes bytes = encode(value);
  const auto decoded = decode(bytes);
  if (!decoded.ok()) RC_FAIL(base::MessageOf(decoded.status()));
  RC_ASSERT(Fields(*decoded) == Fields(value));
  RC_ASSERT(encode(*decoded) == bytes);
}

constexpr auto kEncode = [](const auto& body) { return Encode(body); };

RC_GTEST_PROP(RoundTripTest, Boot, ()) { CheckRoundTrip(AnyBoot(), kEncode, DecodeBoot); }
RC_GTEST_PROP(RoundTripTest, Commit, ()) { CheckRoundTrip(AnyCommit(), kEncode, DecodeCommit); }
RC_GTEST_PROP(RoundTripTest, Part, ()) { CheckRoundTrip(AnyPart(), kEncode, DecodePart); }
RC_GTEST_PROP(RoundTripTest, Aggregate, ()) {
  CheckRoundTrip(AnyAggregate(), kEncode, DecodeAggregate);
}
RC_GTEST_PROP(RoundTripTest, Result, ()) { CheckRoundTrip(AnyResult(), kEncode, DecodeResult); }
RC_GTEST_PROP(RoundTripTest, Reveal, ()) { CheckRoundTrip(AnyReveal(), kEncode, DecodeReveal); }
RC_GTEST_PROP(RoundTripTest, Proof, ()) { CheckRoundTrip(AnyProof(), kEncode, DecodeProof); }
RC_GTEST_PROP(RoundTripTest, Echo, ()) { CheckRoundTrip(AnyEcho(), kEncode, DecodeEcho); }
RC_GTEST_PROP(RoundTripTest, Status, ()) { CheckRoundTrip(AnyStatus(), kEncode, DecodeStatus); }
RC_GTEST_PROP(RoundTripTest, Propose, ()) { CheckRoundTrip(AnyPropose(), kEncode, DecodePropose); }
RC_GTEST_PROP(RoundTripTest, SealVote, ()) {
  CheckRoundTrip(AnySealVote(), kEncode, DecodeSealVote);
}
RC_GTEST_PROP(RoundTripTest, Lock, ()) { CheckRoundTrip(AnyLock(), kEncode, DecodeLock); }
RC_GTEST_PROP(RoundTripTest, Rejoin, ()) { CheckRoundTrip(AnyRejoin(), kEncode, DecodeRejoin); }
RC_GTEST_PROP(RoundTripTest, Pull, ()) { CheckRoundTrip(AnyPull(), kEncode, DecodePull); }
RC_GTEST_PROP(RoundTripTest, Vector, ()) { CheckRoundTrip(AnyVector(), kEncode, DecodeVector); }
RC_GTEST_PROP(RoundTripTest, BlockMessage, ()) {
  CheckRoundTrip(AnyBlockMessage(), kEncode, DecodeBlockMessage);
}
RC_GTEST_PROP(RoundTripTest, Forward, ()) { CheckRoundTrip(AnyForward(), kEncode, DecodeForward); }
RC_GTEST_PROP(RoundTripTest, Chunk, ()) { CheckRoundTrip(AnyChunk(), kEncode, DecodeChunk); }
RC_GTEST_PROP(RoundTripTest, Block, ()) { CheckRoundTrip(AnyBlock(), EncodeBlock, DecodeBlock); }
RC_GTEST_PROP(RoundTripTest, Evidence, ()) {
  CheckRoundTrip(AnyEvidenceFile(), EncodeEvidence, DecodeEvidence);
}
RC_GTEST_PROP(RoundTripTest, UnsignedEnvelope, ()) {
  CheckRoundTrip(
      AnyEnvelope(), [](const Envelope& e) { return *EncodeUnsigned(e); }, OpenUnsigned);
}

RC_GTEST_PROP(RoundTripTest, Service, ()) {
  Envelope envelope = AnyEnvelope();
  envelope.slot.type =
      *rc::gen::element(MessageType::kPull, MessageType::kVector, MessageType::kBlock,
                        MessageType::kChunk, MessageType::kForward);
  envelope.slot.iteration = 0;
  if (envelope.slot.phase != Phase::kB) envelope.slot.draw = 0;
  const auto opened = Open(EncodeService(envelope));
  RC_ASSERT(opened.ok());
  RC_ASSERT(Fields(opened->envelope) == Fields(envelope));
  RC_ASSERT(opened->signature == crypto::Signature{});
  RC_ASSERT(opened->digest == DigestOf(envelope));
}

RC_GTEST_PROP(RoundTripTest, SignedEnvelope, ()) {
  Envelope envelope = AnySignedEnvelope();
  envelope.sender = SampleKey(1).id();
  const SignedEnvelope sealed = Seal(envelope, SampleKey(1));
  const auto opened = Open(sealed.frame);
  RC_ASSERT(opened.ok());
  RC_ASSERT(Fields(opened->envelope) == Fields(envelope));
  RC_ASSERT(opened->digest == sealed.digest);
  RC_ASSERT(opened->digest == DigestOf(envelope));
  crypto::PlainVerifier verifier;
  RC_ASSERT(verifier.Verify(envelope.sender, opened->digest, opened->signature));
}

RC_GTEST_PROP(RoundTripTest, DifferentEnvelopesHaveDifferentDigests, ()) {
  const Envelope a = AnyEnvelope();
  const Envelope b = AnyEnvelope();
  RC_ASSERT((Fields(a) == Fields(b)) == (DigestOf(a) == DigestOf(b)));
}

RC_GTEST_PROP(RoundTripTest, DifferentBlocksHaveDifferentDigests, ()) {
  const Block a = AnyBlock();
  const Block b = AnyBlock();
  RC_ASSERT(BlockDigest(a) == BlockDigest(*DecodeBlock(EncodeBlock(a))));
  RC_ASSERT((Fields(a) == Fields(b)) == (BlockDigest(a) == BlockDigest(b)));
}

// Words that look like pointers more often than random ones would.
RC_GTEST_PROP(RoundTripTest, AnyWordsAreSafeToDecode, ()) {
  const auto words = *rc::gen::container<std::vector<std::uint64_t>>(
      rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange<std::uint64_t>(0, 64),
                     rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                  [](std::uint64_t w) { return w & 0x000f00070000007f; })));
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(words.data()),
                    reinterpret_cast<const std::uint8_t*>(words.data() + words.size()));
  const auto check = [&](const auto& decoded) {
    if (decoded.ok()) RC_ASSERT(Encode(*decoded) == bytes);
  };
  check(DecodeBoot(bytes));
  check(DecodeCommit(bytes));
  check(DecodePart(bytes));
  check(DecodeAggregate(bytes));
  check(DecodeResult(bytes));
  check(DecodeReveal(bytes));
  check(DecodeProof(bytes));
  check(DecodeEcho(bytes));
  check(DecodeStatus(bytes));
  check(DecodePropose(bytes));
  check(DecodeSealVote(bytes));
  check(DecodeLock(bytes));
  check(DecodeClose(bytes));
  check(DecodeRejoin(bytes));
  check(DecodePull(bytes));
  check(DecodeVector(bytes));
  check(DecodeBlockMessage(bytes));
  check(DecodeChunk(bytes));
  check(DecodeForward(bytes));
}

}  // namespace
}  // namespace ostraka::wire::round_trip_test
