#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::envelope_test {
namespace {

using testing::HasSubstr;

base::SharedBytes Share(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

std::string WhyNot(Bytes frame) {
  const auto opened = Open(Share(std::move(frame)));
  return opened.ok() ? "opened" : base::MessageOf(opened.status());
}

// The whole protocol relies on this: unsigned bytes never pass as signed.
bool PassesAsSigned(const Bytes& frame) {
  const auto opened = Open(Share(frame));
  crypto::PlainVerifier verifier;
  return opened.ok() && verifier.Verify(opened->envelope.sender, opened->digest, opened->signature);
}

TEST(EnvelopeTest, SealSignsTheDigestOfTheCore) {
  const Envelope envelope = SampleEnvelope(MessageType::kReveal);
  const SignedEnvelope sealed = Seal(envelope, SampleKey(1));
  const base::ByteView core = base::ByteView(*sealed.frame).subspan(crypto::Signature::kSize);
  EXPECT_EQ(sealed.digest, crypto::Hash(crypto::kDomainEnvelope, core));
  EXPECT_EQ(sealed.digest, DigestOf(envelope));
  EXPECT_EQ(Bytes(core.begin(), core.end()), *EncodeUnsigned(envelope));
  EXPECT_TRUE(AreEqual(sealed.envelope, envelope));
}

TEST(EnvelopeTest, OpenKeepsTheGivenFrame) {
  const SignedEnvelope sealed = Seal(SampleEnvelope(MessageType::kEcho), SampleKey(1));
  const auto opened = Open(sealed.frame);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->frame.get(), sealed.frame.get());
  EXPECT_EQ(opened->digest, sealed.digest);
  EXPECT_EQ(opened->signature, sealed.signature);
}

TEST(EnvelopeTest, EveryFieldChangesTheDigest) {
  const Envelope base = SampleEnvelope(MessageType::kPart);
  const auto digest_after = [&](auto edit) {
    Envelope envelope = base;
    edit(envelope);
    return DigestOf(envelope);
  };
  const Digest digest = DigestOf(base);
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.slot.run_id.bytes[31] ^= 1; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { ++e.slot.incarnation; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { ++e.slot.step; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.slot.phase = Phase::kB; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.slot.type = MessageType::kResult; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { ++e.slot.draw; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { ++e.slot.iteration; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.entry.bytes[0] ^= 1; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.sender.bytes[0] ^= 1; }));
  EXPECT_NE(digest, digest_after([](Envelope& e) { e.body.back() ^= 1; }));
}

class EnvelopeFrameTest : public testing::TestWithParam<MessageType> {
 protected:
  const Bytes frame_ = *SampleFrame(GetParam());
};

TEST_P(EnvelopeFrameTest, NoTruncationOpens) {
  for (std::size_t length = 0; length < frame_.size(); ++length) {
    const Bytes truncated(frame_.begin(), frame_.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(Open(Share(truncated)).ok()) << length;
  }
}

TEST_P(EnvelopeFrameTest, NoBitFlipPassesAsSigned) {
  ASSERT_EQ(PassesAsSigned(frame_), !IsService(GetParam()));
  for (std::size_t bit = 0; bit < 8 * frame_.size(); ++bit) {
    Bytes flipped = frame_;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_FALSE(PassesAsSigned(flipped)) << bit;
  }
}

TEST_P(EnvelopeFrameTest, NothingMayFollow) {
  Bytes longer = frame_;
  longer.push_back(0);
  EXPECT_THAT(WhyNot(longer), HasSubstr("multiple of 8"));
  longer.resize(frame_.size() + 8);
  EXPECT_THAT(WhyNot(longer), HasSubstr("canonical"));
}

TEST_P(EnvelopeFrameTest, AlignmentDoesNotMatter) {
  const Bytes core(frame_.begin() + crypto::Signature::kSize, frame_.end());
  const auto aligned = OpenUnsigned(core);
  ASSERT_TRUE(aligned.ok());
  for (std::size_t shift = 1; shift < 8; ++shift) {
    Bytes shifted(shift);
    shifted.insert(shifted.end(), core.begin(), core.end());
    const auto opened = OpenUnsigned(base::ByteView(shifted).subspan(shift));
    ASSERT_TRUE(opened.ok()) << shift << opened.status();
    EXPECT_TRUE(AreEqual(*opened, *aligned)) << shift;
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, EnvelopeFrameTest, testing::ValuesIn(AllMessageTypes()),
                         [](const auto& param_info) { return MessageTypeName(param_info.param); });

// So the type alone says whether there is a signature to verify.
TEST_P(EnvelopeFrameTest, AllButServicesAreSigned) {
  Bytes frame = frame_;
  if (IsService(GetParam())) {
    frame[17] = 1;
    EXPECT_THAT(WhyNot(frame), HasSubstr("a service is not signed"));
  } else {
    std::fill_n(frame.begin(), crypto::Signature::kSize, std::uint8_t{0});
    EXPECT_THAT(WhyNot(frame), HasSubstr("not signed"));
    frame[17] = 1;
    EXPECT_EQ(WhyNot(frame), "opened");
  }
}

TEST(EnvelopeTest, NullAndEmptyFramesAreRefused) {
  EXPECT_FALSE(Open(nullptr).ok());
  EXPECT_THAT(WhyNot({}), HasSubstr("shorter"));
  EXPECT_FALSE(OpenUnsigned({}).ok());
}

TEST(EnvelopeTest, TheLongestProofCanBeCarried) {
  Envelope envelope = SampleEnvelope(MessageType::kProof);
  envelope.body.resize(kMaxProofBodyBytes);
  const SignedEnvelope largest = Seal(envelope, SampleKey(1));
  EXPECT_LE(largest.frame->size(), kMaxForwardedBytes);
  EXPECT_TRUE(Open(largest.frame).ok());
  envelope.body.resize(kMaxProofBodyBytes + 1);
  EXPECT_FALSE(Open(Seal(envelope, SampleKey(1)).frame).ok());
}

TEST(EnvelopeTest, FrameLimitIsExact) {
  Envelope envelope = SampleEnvelope(MessageType::kProof);
  envelope.body.resize(8);
  const std::size_t overhead = Seal(envelope, SampleKey(1)).frame->size() - envelope.body.size();
  envelope.body.resize(kMaxFrameBytes - overhead + 1);
  EXPECT_THAT(WhyNot(*Seal(envelope, SampleKey(1)).frame), HasSubstr("too long"));
  envelope.body.resize(kMaxFrameBytes);
  EXPECT_FALSE(OpenUnsigned(*EncodeUnsigned(envelope)).ok());
}

TEST(EnvelopeTest, OnlyProofsAndServicesHaveLargeBodies) {
  for (const MessageType type : AllMessageTypes()) {
    Envelope envelope = SampleEnvelope(type);
    envelope.body.resize(kMaxSmallBodyBytes);
    EXPECT_TRUE(OpenUnsigned(*EncodeUnsigned(envelope)).ok()) << MessageTypeName(type);
    envelope.body.resize(kMaxSmallBodyBytes + 1);
    EXPECT_EQ(OpenUnsigned(*EncodeUnsigned(envelope)).ok(),
              type == MessageType::kProof || IsService(type))
        << MessageTypeName(type);
  }
}

TEST(EnvelopeTest, AnEmptyBodyIsABody) {
  Envelope envelope = SampleEnvelope(MessageType::kProof);
  envelope.body.clear();
  const auto opened = Open(Seal(envelope, SampleKey(1)).frame);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(opened->envelope.body.empty());
}

}  // namespace
}  // namespace ostraka::wire::envelope_test
