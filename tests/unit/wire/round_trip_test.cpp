// Properties of every message: decoding an encoded value gives equal fields, and no two values
// share an encoding.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "node/wire/codec.h"
#include "tests/unit/wire/generators.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::round_trip_test {
namespace {

template <typename Value, typename Encoder, typename Decoder>
void CheckRoundTrip(const Value& value, Encoder encode, Decoder decode) {
  const Bytes bytes = encode(value);
  const auto decoded = decode(bytes);
  if (!decoded.ok()) RC_FAIL(base::MessageOf(decoded.status()));
  RC_ASSERT(AreEqual(*decoded, value));
  RC_ASSERT(encode(*decoded) == bytes);
}

template <typename Body>
void CheckBody() {
  CheckRoundTrip(
      Any<Body>(), [](const Body& body) { return Encode(body); }, Decode<Body>);
}

RC_GTEST_PROP(RoundTripTest, Boot, ()) { CheckBody<Boot>(); }
RC_GTEST_PROP(RoundTripTest, Commit, ()) { CheckBody<Commit>(); }
RC_GTEST_PROP(RoundTripTest, Part, ()) { CheckBody<Part>(); }
RC_GTEST_PROP(RoundTripTest, Aggregate, ()) { CheckBody<Aggregate>(); }
RC_GTEST_PROP(RoundTripTest, Result, ()) { CheckBody<Result>(); }
RC_GTEST_PROP(RoundTripTest, Reveal, ()) { CheckBody<Reveal>(); }
RC_GTEST_PROP(RoundTripTest, Proof, ()) { CheckBody<Proof>(); }
RC_GTEST_PROP(RoundTripTest, Echo, ()) { CheckBody<Echo>(); }
RC_GTEST_PROP(RoundTripTest, Status, ()) { CheckBody<SealStatus>(); }
RC_GTEST_PROP(RoundTripTest, Propose, ()) { CheckBody<Propose>(); }
RC_GTEST_PROP(RoundTripTest, SealVote, ()) { CheckBody<SealVote>(); }
RC_GTEST_PROP(RoundTripTest, Lock, ()) { CheckBody<Lock>(); }
RC_GTEST_PROP(RoundTripTest, Rejoin, ()) { CheckBody<Rejoin>(); }
RC_GTEST_PROP(RoundTripTest, Pull, ()) { CheckBody<Pull>(); }
RC_GTEST_PROP(RoundTripTest, Vector, ()) { CheckBody<Vector>(); }
RC_GTEST_PROP(RoundTripTest, BlockMessage, ()) { CheckBody<BlockMessage>(); }
RC_GTEST_PROP(RoundTripTest, Forward, ()) { CheckBody<Forward>(); }
RC_GTEST_PROP(RoundTripTest, Chunk, ()) { CheckBody<Chunk>(); }
RC_GTEST_PROP(RoundTripTest, Revocation, ()) { CheckBody<Revocation>(); }
RC_GTEST_PROP(RoundTripTest, Block, ()) { CheckRoundTrip(Any<Block>(), EncodeBlock, DecodeBlock); }
RC_GTEST_PROP(RoundTripTest, Evidence, ()) {
  CheckRoundTrip(Any<EvidenceFile>(), EncodeEvidence, DecodeEvidence);
}
RC_GTEST_PROP(RoundTripTest, Handover, ()) {
  CheckRoundTrip(Any<Handover>(), EncodeHandover, DecodeHandover);
}
RC_GTEST_PROP(RoundTripTest, UnsignedEnvelope, ()) {
  CheckRoundTrip(
      Any<Envelope>(), [](const Envelope& e) { return *EncodeUnsigned(e); }, OpenUnsigned);
}

RC_GTEST_PROP(RoundTripTest, Service, ()) {
  Envelope envelope = Any<Envelope>();
  envelope.slot.type =
      *rc::gen::element(MessageType::kPull, MessageType::kVector, MessageType::kBlock,
                        MessageType::kChunk, MessageType::kForward);
  envelope.slot.iteration = 0;
  if (envelope.slot.phase != Phase::kB) envelope.slot.draw = 0;
  const auto opened = Open(EncodeService(envelope));
  RC_ASSERT(opened.ok());
  RC_ASSERT(AreEqual(opened->envelope, envelope));
  RC_ASSERT(opened->signature == crypto::Signature{});
  RC_ASSERT(opened->digest == DigestOf(envelope));
}

RC_GTEST_PROP(RoundTripTest, SignedEnvelope, ()) {
  Envelope envelope = AnySignedEnvelope();
  envelope.sender = SampleKey(1).id();
  const SignedEnvelope sealed = Seal(envelope, SampleKey(1));
  const auto opened = Open(sealed.frame);
  RC_ASSERT(opened.ok());
  RC_ASSERT(AreEqual(opened->envelope, envelope));
  RC_ASSERT(opened->digest == sealed.digest);
  RC_ASSERT(opened->digest == DigestOf(envelope));
  crypto::PlainVerifier verifier;
  RC_ASSERT(verifier.Verify(envelope.sender, opened->digest, opened->signature));
}

RC_GTEST_PROP(RoundTripTest, DifferentEnvelopesHaveDifferentDigests, ()) {
  const Envelope a = Any<Envelope>();
  const Envelope b = Any<Envelope>();
  RC_ASSERT(AreEqual(a, b) == (DigestOf(a) == DigestOf(b)));
}

RC_GTEST_PROP(RoundTripTest, DifferentBlocksHaveDifferentDigests, ()) {
  const Block a = Any<Block>();
  const Block b = Any<Block>();
  RC_ASSERT(BlockDigest(a) == BlockDigest(*DecodeBlock(EncodeBlock(a))));
  RC_ASSERT(AreEqual(a, b) == (BlockDigest(a) == BlockDigest(b)));
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
  check(Decode<Boot>(bytes));
  check(Decode<Commit>(bytes));
  check(Decode<Part>(bytes));
  check(Decode<Aggregate>(bytes));
  check(Decode<Result>(bytes));
  check(Decode<Reveal>(bytes));
  check(Decode<Proof>(bytes));
  check(Decode<Echo>(bytes));
  check(Decode<SealStatus>(bytes));
  check(Decode<Propose>(bytes));
  check(Decode<SealVote>(bytes));
  check(Decode<Lock>(bytes));
  check(Decode<Close>(bytes));
  check(Decode<Rejoin>(bytes));
  check(Decode<Pull>(bytes));
  check(Decode<Vector>(bytes));
  check(Decode<BlockMessage>(bytes));
  check(Decode<Chunk>(bytes));
  check(Decode<Forward>(bytes));
}

}  // namespace
}  // namespace ostraka::wire::round_trip_test
