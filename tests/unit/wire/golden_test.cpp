// The bytes of every message, checked in both directions against vectors that do not change by
// accident.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/fields.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/vector_file.h"

namespace ostraka::wire::golden_test {
namespace {

Bytes GoldenBytes(const std::string& name) {
  const auto bytes = ReadVector("tests/vectors/wire/" + name + ".hex");
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : Bytes{};
}

template <typename Value, typename Decoder>
void ExpectVector(const std::string& name, const Value& value, const Bytes& encoded,
                  Decoder decode) {
  const Bytes golden = GoldenBytes(name);
  EXPECT_EQ(base::ToHex(encoded), base::ToHex(golden)) << name;
  const auto decoded = decode(golden);
  ASSERT_TRUE(decoded.ok()) << name << ": " << decoded.status();
  EXPECT_TRUE(Fields(*decoded) == Fields(value)) << name;
}

TEST(GoldenTest, Bodies) {
  ExpectVector("boot", SampleBoot(), Encode(SampleBoot()), DecodeBoot);
  ExpectVector("commit", SampleCommit(), Encode(SampleCommit()), DecodeCommit);
  ExpectVector("commit_validator", SampleValidatorCommit(), Encode(SampleValidatorCommit()),
               DecodeCommit);
  ExpectVector("commit_exact", SampleExactCommit(), Encode(SampleExactCommit()), DecodeCommit);
  ExpectVector("part", SamplePart(), Encode(SamplePart()), DecodePart);
  ExpectVector("aggregate", SampleAggregate(), Encode(SampleAggregate()), DecodeAggregate);
  ExpectVector("result", SampleResult(), Encode(SampleResult()), DecodeResult);
  ExpectVector("reveal", SampleReveal(), Encode(SampleReveal()), DecodeReveal);
  ExpectVector("proof", SampleProof(), Encode(SampleProof()), DecodeProof);
  ExpectVector("proof_arrival", SampleArrivalProof(), Encode(SampleArrivalProof()), DecodeProof);
  ExpectVector("proof_empty", Proof{}, Encode(Proof{}), DecodeProof);
  ExpectVector("echo", SampleEcho(), Encode(SampleEcho()), DecodeEcho);
}

TEST(GoldenTest, SlowPathAndServices) {
  ExpectVector("status", SampleStatus(), Encode(SampleStatus()), DecodeStatus);
  ExpectVector("propose", SamplePropose(), Encode(SamplePropose()), DecodePropose);
  ExpectVector("vote", SampleSealVote(), Encode(SampleSealVote()), DecodeSealVote);
  ExpectVector("lock", SampleLock(), Encode(SampleLock()), DecodeLock);
  ExpectVector("close", Close{}, Encode(Close{}), DecodeClose);
  ExpectVector("rejoin", SampleRejoin(), Encode(SampleRejoin()), DecodeRejoin);
  ExpectVector("rejoin_guest", SampleGuestRejoin(), Encode(SampleGuestRejoin()), DecodeRejoin);
  ExpectVector("rejoin_observing", SampleObservingRejoin(), Encode(SampleObservingRejoin()),
               DecodeRejoin);
  ExpectVector("pull", SamplePull(), Encode(SamplePull()), DecodePull);
  ExpectVector("vector", SampleVector(), Encode(SampleVector()), DecodeVector);
  ExpectVector("block_message", SampleBlockMessage(), Encode(SampleBlockMessage()),
               DecodeBlockMessage);
  ExpectVector("chunk", SampleChunk(), Encode(SampleChunk()), DecodeChunk);
  ExpectVector("forward", SampleForward(), Encode(SampleForward()), DecodeForward);
  ExpectVector("commit_revoking", SampleRevokingCommit(), Encode(SampleRevokingCommit()),
               DecodeCommit);
  ExpectVector("commit_revoking_all", SampleRevokingAllCommit(), Encode(SampleRevokingAllCommit()),
               DecodeCommit);
  ExpectVector("propose_locked", SampleLockedPropose(), Encode(SampleLockedPropose()),
               DecodePropose);
  ExpectVector("vector_empty", Vector{}, Encode(Vector{}), DecodeVector);
}

TEST(GoldenTest, BlockAndEvidence) {
  ExpectVector("block", SampleBlock(), EncodeBlock(SampleBlock()), DecodeBlock);
  ExpectVector("block_closes", SampleClosingBlock(), EncodeBlock(SampleClosingBlock()),
               DecodeBlock);
  ExpectVector("block_reach", SampleReachBlock(), EncodeBlock(SampleReachBlock()), DecodeBlock);
  ExpectVector("block_leaving", SampleLeavingBlock(), EncodeBlock(SampleLeavingBlock()),
               DecodeBlock);
  ExpectVector("block_arrival", SampleArrivalBlock(), EncodeBlock(SampleArrivalBlock()),
               DecodeBlock);
  ExpectVector("block_revoked", SampleRevokedBlock(), EncodeBlock(SampleRevokedBlock()),
               DecodeBlock);
  ExpectVector("block_users", SampleUsersBlock(), EncodeBlock(SampleUsersBlock()), DecodeBlock);
  ExpectVector("block_part", SamplePartBlock(), EncodeBlock(SamplePartBlock()), DecodeBlock);
  ExpectVector("block_exact", SampleExactBlock(), EncodeBlock(SampleExactBlock()), DecodeBlock);
  ExpectVector("evidence", SampleEvidence(), EncodeEvidence(SampleEvidence()), DecodeEvidence);
}

// Evidence and ledgers of protocol version 1 contain these bytes, which still have one encoding.
TEST(GoldenTest, BytesOfVersion1) {
  const auto same = [](const std::string& name, auto decode, auto encode) {
    const Bytes golden = GoldenBytes("version1/" + name);
    const auto decoded = decode(golden);
    ASSERT_TRUE(decoded.ok()) << name << ": " << decoded.status();
    EXPECT_EQ(base::ToHex(encode(*decoded)), base::ToHex(golden)) << name;
  };
  const auto encode = [](const auto& body) { return Encode(body); };
  same("aggregate", DecodeAggregate, encode);
  same("proof", DecodeProof, encode);
  same("block", DecodeBlock, EncodeBlock);
}

TEST(GoldenTest, UnsignedCore) {
  const Envelope envelope = SampleEnvelope(MessageType::kCommit);
  ExpectVector("core_unsigned", envelope, *EncodeUnsigned(envelope), OpenUnsigned);
}

class GoldenFrameTest : public testing::TestWithParam<MessageType> {};

TEST_P(GoldenFrameTest, FrameOfType) {
  const std::string name = std::string("frame_") + MessageTypeName(GetParam());
  const Envelope envelope = SampleEnvelope(GetParam());
  const Bytes golden = GoldenBytes(name);
  EXPECT_EQ(base::ToHex(*SampleFrame(GetParam())), base::ToHex(golden));
  const auto opened = Open(std::make_shared<const Bytes>(golden));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(Fields(opened->envelope) == Fields(envelope));
  EXPECT_EQ(opened->digest, DigestOf(envelope));
  crypto::PlainVerifier verifier;
  EXPECT_EQ(verifier.Verify(opened->envelope.sender, opened->digest, opened->signature),
            !IsService(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, GoldenFrameTest, testing::ValuesIn(AllMessageTypes()),
                         [](const auto& param_info) { return MessageTypeName(param_info.param); });

}  // namespace
}  // namespace ostraka::wire::golden_test
