// The bytes of every message, checked in both directions against vectors that do not change by
// accident.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"
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
  EXPECT_TRUE(AreEqual(*decoded, value)) << name;
}

TEST(GoldenTest, Bodies) {
  ExpectVector("boot", SampleBoot(), Encode(SampleBoot()), Decode<Boot>);
  ExpectVector("commit", SampleCommit(), Encode(SampleCommit()), Decode<Commit>);
  ExpectVector("commit_validator", SampleValidatorCommit(), Encode(SampleValidatorCommit()),
               Decode<Commit>);
  ExpectVector("commit_exact", SampleExactCommit(), Encode(SampleExactCommit()), Decode<Commit>);
  ExpectVector("part", SamplePart(), Encode(SamplePart()), Decode<Part>);
  ExpectVector("aggregate", SampleAggregate(), Encode(SampleAggregate()), Decode<Aggregate>);
  ExpectVector("result", SampleResult(), Encode(SampleResult()), Decode<Result>);
  ExpectVector("reveal", SampleReveal(), Encode(SampleReveal()), Decode<Reveal>);
  ExpectVector("proof", SampleProof(), Encode(SampleProof()), Decode<Proof>);
  ExpectVector("proof_arrival", SampleArrivalProof(), Encode(SampleArrivalProof()), Decode<Proof>);
  ExpectVector("proof_empty", Proof{}, Encode(Proof{}), Decode<Proof>);
  ExpectVector("echo", SampleEcho(), Encode(SampleEcho()), Decode<Echo>);
}

TEST(GoldenTest, SlowPathAndServices) {
  ExpectVector("status", SampleStatus(), Encode(SampleStatus()), Decode<SealStatus>);
  ExpectVector("propose", SamplePropose(), Encode(SamplePropose()), Decode<Propose>);
  ExpectVector("vote", SampleSealVote(), Encode(SampleSealVote()), Decode<SealVote>);
  ExpectVector("lock", SampleLock(), Encode(SampleLock()), Decode<Lock>);
  ExpectVector("close", Close{}, Encode(Close{}), Decode<Close>);
  ExpectVector("rejoin", SampleRejoin(), Encode(SampleRejoin()), Decode<Rejoin>);
  ExpectVector("rejoin_guest", SampleGuestRejoin(), Encode(SampleGuestRejoin()), Decode<Rejoin>);
  ExpectVector("rejoin_observing", SampleObservingRejoin(), Encode(SampleObservingRejoin()),
               Decode<Rejoin>);
  ExpectVector("pull", SamplePull(), Encode(SamplePull()), Decode<Pull>);
  ExpectVector("vector", SampleVector(), Encode(SampleVector()), Decode<Vector>);
  ExpectVector("block_message", SampleBlockMessage(), Encode(SampleBlockMessage()),
               Decode<BlockMessage>);
  ExpectVector("chunk", SampleChunk(), Encode(SampleChunk()), Decode<Chunk>);
  ExpectVector("forward", SampleForward(), Encode(SampleForward()), Decode<Forward>);
  ExpectVector("commit_revoking", SampleRevokingCommit(), Encode(SampleRevokingCommit()),
               Decode<Commit>);
  ExpectVector("commit_revoking_all", SampleRevokingAllCommit(), Encode(SampleRevokingAllCommit()),
               Decode<Commit>);
  ExpectVector("propose_locked", SampleLockedPropose(), Encode(SampleLockedPropose()),
               Decode<Propose>);
  ExpectVector("vector_empty", Vector{}, Encode(Vector{}), Decode<Vector>);
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
  ExpectVector("block_count", SampleCountBlock(), EncodeBlock(SampleCountBlock()), DecodeBlock);
  ExpectVector("block_part", SamplePartBlock(), EncodeBlock(SamplePartBlock()), DecodeBlock);
  ExpectVector("block_exact", SampleExactBlock(), EncodeBlock(SampleExactBlock()), DecodeBlock);
  ExpectVector("block_reason", SampleReasonBlock(), EncodeBlock(SampleReasonBlock()), DecodeBlock);
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
  same("aggregate", Decode<Aggregate>, encode);
  same("proof", Decode<Proof>, encode);
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
  EXPECT_TRUE(AreEqual(opened->envelope, envelope));
  EXPECT_EQ(opened->digest, DigestOf(envelope));
  crypto::PlainVerifier verifier;
  EXPECT_EQ(verifier.Verify(opened->envelope.sender, opened->digest, opened->signature),
            !IsService(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, GoldenFrameTest, testing::ValuesIn(AllMessageTypes()),
                         [](const auto& param_info) { return MessageTypeName(param_info.param); });

}  // namespace
}  // namespace ostraka::wire::golden_test
