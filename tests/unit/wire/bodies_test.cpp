#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::bodies_test {
namespace {

using testing::HasSubstr;

// Decodes the encoding of `body`: "" or the reason.
template <typename Body, typename Decoder>
std::string Judge(const Body& body, Decoder decode) {
  const auto decoded = decode(Encode(body));
  if (!decoded.ok()) {
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
    return base::MessageOf(decoded.status());
  }
  EXPECT_TRUE(AreEqual(*decoded, body));
  return "";
}

// Every truncation fails, and every flipped bit either fails or changes a field: no two byte
// strings have equal fields.
template <typename Body, typename Decoder>
void ExpectEveryBitMatters(const Body& body, Decoder decode) {
  const Bytes bytes = Encode(body);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(base::ByteView(bytes).first(length)).ok()) << length;
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const auto decoded = decode(flipped);
    EXPECT_FALSE(decoded.ok() && AreEqual(*decoded, body)) << bit;
  }
}

std::vector<PeerId> AscendingPeers(std::size_t count) {
  std::vector<PeerId> peers(count);
  for (std::size_t i = 0; i < count; ++i) {
    peers[i].bytes[0] = static_cast<std::uint8_t>(i >> 8);
    peers[i].bytes[1] = static_cast<std::uint8_t>(i);
  }
  return peers;
}

TEST(BodiesTest, EveryBitMatters) {
  ExpectEveryBitMatters(SampleBoot(), Decode<Boot>);
  ExpectEveryBitMatters(SampleCommit(), Decode<Commit>);
  ExpectEveryBitMatters(SampleValidatorCommit(), Decode<Commit>);
  ExpectEveryBitMatters(SampleExactCommit(), Decode<Commit>);
  ExpectEveryBitMatters(SamplePart(), Decode<Part>);
  ExpectEveryBitMatters(SampleAggregate(), Decode<Aggregate>);
  ExpectEveryBitMatters(SampleResult(), Decode<Result>);
  ExpectEveryBitMatters(SampleReveal(), Decode<Reveal>);
  ExpectEveryBitMatters(SampleProof(), Decode<Proof>);
  ExpectEveryBitMatters(Proof{}, Decode<Proof>);
  ExpectEveryBitMatters(SampleEcho(), Decode<Echo>);
  ExpectEveryBitMatters(SampleStatus(), Decode<SealStatus>);
  ExpectEveryBitMatters(SamplePropose(), Decode<Propose>);
  ExpectEveryBitMatters(SampleSealVote(), Decode<SealVote>);
  ExpectEveryBitMatters(SampleLock(), Decode<Lock>);
  ExpectEveryBitMatters(SampleRejoin(), Decode<Rejoin>);
  ExpectEveryBitMatters(SampleGuestRejoin(), Decode<Rejoin>);
  ExpectEveryBitMatters(SampleObservingRejoin(), Decode<Rejoin>);
  ExpectEveryBitMatters(SamplePull(), Decode<Pull>);
  ExpectEveryBitMatters(SampleVector(), Decode<Vector>);
  ExpectEveryBitMatters(SampleBlockMessage(), Decode<BlockMessage>);
  ExpectEveryBitMatters(SampleChunk(), Decode<Chunk>);
  ExpectEveryBitMatters(SampleForward(), Decode<Forward>);
  ExpectEveryBitMatters(SampleDialerCommit(), Decode<Commit>);
  ExpectEveryBitMatters(SampleLockedPropose(), Decode<Propose>);
  ExpectEveryBitMatters(Vector{}, Decode<Vector>);
}

TEST(BodiesTest, CoinCountHasBounds) {
  Commit commit = SampleCommit();
  commit.coin_count = 0;
  EXPECT_THAT(Judge(commit, Decode<Commit>), HasSubstr("coin count"));
  commit.coin_count = kMaxCoins;
  EXPECT_EQ(Judge(commit, Decode<Commit>), "");
  commit.coin_count = kMaxCoins + 1;
  EXPECT_THAT(Judge(commit, Decode<Commit>), HasSubstr("coin count"));
}

TEST(BodiesTest, ShapeAndPathHaveBounds) {
  Part part = SamplePart();
  part.header.shape.assign(kMaxTensorRank, ~std::uint64_t{0});
  part.path.assign(kMaxMerklePath, Filled(1));
  EXPECT_EQ(Judge(part, Decode<Part>), "");
  part.header.shape.push_back(1);
  EXPECT_THAT(Judge(part, Decode<Part>), HasSubstr("shape: too many"));
  part = SamplePart();
  part.path.assign(kMaxMerklePath + 1, Filled(1));
  EXPECT_THAT(Judge(part, Decode<Part>), HasSubstr("path: too many"));

  Result result = SampleResult();
  result.header.shape.assign(kMaxTensorRank + 1, 1);
  EXPECT_THAT(Judge(result, Decode<Result>), HasSubstr("shape: too many"));

  Reveal reveal = SampleReveal();
  reveal.opening.path.assign(kMaxMerklePath, Filled(1));
  EXPECT_EQ(Judge(reveal, Decode<Reveal>), "");
  reveal.opening.path.push_back(Filled(1));
  EXPECT_THAT(Judge(reveal, Decode<Reveal>), HasSubstr("path: too many"));
}

// Every message within its limits fits in an envelope.
TEST(BodiesTest, TheLargestBodiesAreSmall) {
  Part part = SamplePart();
  part.header.shape.assign(kMaxTensorRank, ~std::uint64_t{0});
  part.path.assign(kMaxMerklePath, Filled(1));
  EXPECT_LE(Encode(part).size(), kMaxSmallBodyBytes);
  Reveal reveal = SampleReveal();
  reveal.opening.path = part.path;
  EXPECT_LE(Encode(reveal).size(), kMaxSmallBodyBytes);
  Echo echo = SampleEcho();
  echo.present.assign(kMaxBitmapBytes, 0xff);
  echo.equivocated.assign(kMaxBitmapBytes, 0xff);
  EXPECT_LE(Encode(echo).size(), kMaxSmallBodyBytes);
  Aggregate aggregate = SampleAggregate();
  aggregate.included.assign(kMaxPeers / 8, 0xff);
  EXPECT_LE(Encode(aggregate).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleCommit()).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleBoot()).size(), kMaxSmallBodyBytes);
  Propose propose = SamplePropose();
  propose.statuses.assign(kMaxPeers / 8, 0xff);
  EXPECT_EQ(Judge(propose, Decode<Propose>), "");
  EXPECT_LE(Encode(propose).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleStatus()).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleSealVote()).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleLock()).size(), kMaxSmallBodyBytes);
  EXPECT_LE(Encode(SampleRejoin()).size(), kMaxSmallBodyBytes);
}

TEST(BodiesTest, UnknownTensorKindsAreRefused) {
  Result result = SampleResult();
  result.header.element = static_cast<ElementType>(kElementTypeCount);
  EXPECT_THAT(Judge(result, Decode<Result>), HasSubstr("element type: unknown"));
  result = SampleResult();
  result.header.codec = static_cast<Codec>(kCodecCount);
  EXPECT_THAT(Judge(result, Decode<Result>), HasSubstr("codec: unknown"));
}

TEST(BodiesTest, AggregateHasBounds) {
  Aggregate aggregate = SampleAggregate();
  aggregate.part_index = kMaxParts - 1;
  aggregate.included.assign(kMaxPeers / 8, 0xff);
  EXPECT_EQ(Judge(aggregate, Decode<Aggregate>), "");
  aggregate.part_index = kMaxParts;
  EXPECT_THAT(Judge(aggregate, Decode<Aggregate>), HasSubstr("part index"));
  aggregate.part_index = 0;
  aggregate.included.push_back(0);
  EXPECT_THAT(Judge(aggregate, Decode<Aggregate>), HasSubstr("included: too long"));
}

TEST(BodiesTest, EchoBitmapsHaveBounds) {
  Echo echo = SampleEcho();
  echo.present.assign(kMaxBitmapBytes, 0xff);
  echo.equivocated.assign(kMaxBitmapBytes, 0xff);
  EXPECT_EQ(Judge(echo, Decode<Echo>), "");
  echo.present.push_back(0);
  EXPECT_THAT(Judge(echo, Decode<Echo>), HasSubstr("present: too long"));
  echo = SampleEcho();
  echo.equivocated.assign(kMaxBitmapBytes + 1, 0);
  EXPECT_THAT(Judge(echo, Decode<Echo>), HasSubstr("equivocated: too long"));
}

// Everything at its limit at once still fits in a frame; one more of anything is refused.
TEST(BodiesTest, ProofListsHaveBounds) {
  Proof full;
  full.columns.assign(kMaxParts, SampleProof().columns[0]);
  full.votes.assign(kMaxVotes, SampleProof().votes[0]);
  full.evidence.assign(kMaxInlineEvidence, Bytes(kMaxEvidenceBytes, 7));
  full.held.assign(kMaxHeldBytes, 0xff);
  full.silent.assign(kMaxPeers / 8, 0xff);
  full.joins = AscendingPeers(kMaxPeers);
  full.arrivals.assign(kMaxArrivals, {.peer = {}, .voucher = SampleVoucher()});
  for (std::size_t i = 0; i < kMaxArrivals; ++i) {
    full.arrivals[i].peer.bytes = {0xff, static_cast<std::uint8_t>(i)};
  }
  full.lag_us = ~std::uint64_t{0};
  full.accusation = SampleProof().accusation;
  full.naming = SampleProof().naming;
  full.state_root = Filled(1);
  EXPECT_EQ(Judge(full, Decode<Proof>), "");
  Envelope envelope = SampleEnvelope(MessageType::kProof);
  envelope.body = Encode(full);
  EXPECT_TRUE(Open(Seal(envelope, SampleKey(1)).frame).ok());

  Proof over = full;
  over.columns.emplace_back();
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("columns: too many"));
  over = full;
  over.votes.push_back(full.votes[0]);
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("votes: too many"));
  over = full;
  over.evidence.emplace_back();
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("evidence: too many"));
  over = full;
  over.evidence[0].push_back(7);
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("evidence: too long"));
  over = full;
  over.held.push_back(0);
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("held: too long"));
  over = full;
  over.silent.push_back(0);
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("silent: too long"));
  over = full;
  over.joins = AscendingPeers(kMaxPeers + 1);
  EXPECT_THAT(Judge(over, Decode<Proof>), HasSubstr("joins: too many"));
}

TEST(BodiesTest, JoinsAscend) {
  Proof proof = SampleProof();
  std::swap(proof.joins[0], proof.joins[1]);
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("joins: must be strictly ascending"));
  proof.joins[0] = proof.joins[1];
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("joins: must be strictly ascending"));
}

TEST(BodiesTest, ArrivalsAreBoundedAscendAndAreNoJoins) {
  Proof proof = SampleArrivalProof();
  std::swap(proof.arrivals[0], proof.arrivals[1]);
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("arrivals: must be strictly ascending"));
  proof.arrivals = {{.peer = proof.joins[1]}};
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("arrivals: names a key of joins"));
  proof.arrivals.assign(kMaxArrivals + 1, {});
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("arrivals: too many"));
}

TEST(BodiesTest, UsesAreFromOneToTheLimit) {
  for (const std::uint32_t uses : {0U, kMaxInviteUses + 1}) {
    Rejoin rejoin = SampleGuestRejoin();
    rejoin.credential->invite.uses = uses;
    EXPECT_THAT(Judge(rejoin, Decode<Rejoin>), HasSubstr("uses: out of range")) << uses;
    Proof proof = SampleArrivalProof();
    proof.arrivals[0].voucher->uses = uses;
    EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("uses: out of range")) << uses;
  }
}

TEST(BodiesTest, AnInviteHasAKindThatIsKnown) {
  Rejoin rejoin = SampleGuestRejoin();
  rejoin.credential->invite.kind = static_cast<InviteKind>(kInviteKindCount);
  EXPECT_THAT(Judge(rejoin, Decode<Rejoin>), HasSubstr("invite kind: unknown value"));
  Proof proof = SampleArrivalProof();
  proof.arrivals[0].voucher->kind = static_cast<InviteKind>(kInviteKindCount);
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("invite kind: unknown value"));
}

// Otherwise one case would have several names, and votes on it would not add up.
TEST(BodiesTest, ACaseHasOneName) {
  Proof proof = SampleProof();
  for (std::uint8_t i = 0; i < kCaseKindCount; ++i) {
    CaseId& about = proof.votes[0].about;
    about.kind = static_cast<CaseKind>(i);
    about.column = 0;
    EXPECT_EQ(Judge(proof, Decode<Proof>), "");
    about.column = kMaxParts - 1;
    const bool has_column = about.kind != CaseKind::kGradient;
    EXPECT_EQ(Judge(proof, Decode<Proof>) == "", has_column) << CaseKindName(about.kind);
    about.column = kMaxParts;
    EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("column: out of range"));
  }
  proof.votes[0].about = SampleCaseId();
  proof.votes[0].about.kind = static_cast<CaseKind>(kCaseKindCount);
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("case kind: unknown"));
}

TEST(BodiesTest, NamingIsOfAColumn) {
  Proof proof = SampleProof();
  proof.naming->column = kMaxParts - 1;
  EXPECT_EQ(Judge(proof, Decode<Proof>), "");
  proof.naming->column = kMaxParts;
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("column: out of range"));
}

TEST(BodiesTest, RanksHaveBounds) {
  SealStatus status = SampleStatus();
  Propose propose = SampleLockedPropose();
  SealVote vote = SampleSealVote();
  status.rank = propose.rank = vote.rank = 1 + kMaxIterations;
  EXPECT_EQ(Judge(status, Decode<SealStatus>), "");
  EXPECT_EQ(Judge(propose, Decode<Propose>), "");
  EXPECT_EQ(Judge(vote, Decode<SealVote>), "");
  status.rank = propose.rank = vote.rank = 2 + kMaxIterations;
  EXPECT_THAT(Judge(status, Decode<SealStatus>), HasSubstr("rank: out of range"));
  EXPECT_THAT(Judge(propose, Decode<Propose>), HasSubstr("rank: out of range"));
  EXPECT_THAT(Judge(vote, Decode<SealVote>), HasSubstr("rank: out of range"));
}

TEST(BodiesTest, AProposalOfALockedValueNamesNoStatuses) {
  Propose propose = SampleLockedPropose();
  propose.statuses = {0x01};
  EXPECT_THAT(Judge(propose, Decode<Propose>), HasSubstr("only with rank 0"));
  propose = SampleLockedPropose();
  propose.statuses_root = Filled(1);
  EXPECT_THAT(Judge(propose, Decode<Propose>), HasSubstr("only with rank 0"));
  propose = SamplePropose();
  propose.statuses.assign(kMaxPeers / 8 + 1, 0xff);
  EXPECT_THAT(Judge(propose, Decode<Propose>), HasSubstr("statuses: too long"));
}

TEST(BodiesTest, PullHasBounds) {
  Pull pull = SamplePull();
  pull.members.assign(kMaxPeers / 8, 0xff);
  pull.digests.assign(kMaxPullDigests, Filled(1));
  EXPECT_EQ(Judge(pull, Decode<Pull>), "");
  pull.members.push_back(0);
  EXPECT_THAT(Judge(pull, Decode<Pull>), HasSubstr("members: too long"));
  pull = SamplePull();
  pull.digests.assign(kMaxPullDigests + 1, Filled(1));
  EXPECT_THAT(Judge(pull, Decode<Pull>), HasSubstr("digests: too many"));
  pull = SamplePull();
  pull.kind = static_cast<PullKind>(kPullKindCount);
  EXPECT_THAT(Judge(pull, Decode<Pull>), HasSubstr("pull kind: unknown"));
  pull = SamplePull();
  pull.type = static_cast<MessageType>(kMessageTypeCount);
  EXPECT_THAT(Judge(pull, Decode<Pull>), HasSubstr("type: unknown"));
}

TEST(BodiesTest, TheLargestVectorFitsInAFrame) {
  Vector vector;
  vector.entries.assign(kMaxVectorEntries, {.state = 1, .digest = Filled(0xff)});
  EXPECT_EQ(Judge(vector, Decode<Vector>), "");
  Envelope envelope = SampleEnvelope(MessageType::kVector);
  envelope.body = Encode(vector);
  EXPECT_TRUE(Open(EncodeService(envelope)).ok());
  vector.entries.emplace_back();
  EXPECT_THAT(Judge(vector, Decode<Vector>), HasSubstr("too many"));
}

TEST(BodiesTest, VectorEntriesAreEncodedAsHashed) {
  Vector vector = SampleVector();
  vector.entries[1].state = 3;
  EXPECT_THAT(Judge(vector, Decode<Vector>), HasSubstr("state: out of range"));
  for (const std::uint8_t state : {0, 2}) {
    vector.entries[1] = {.state = state, .digest = Filled(1)};
    EXPECT_THAT(Judge(vector, Decode<Vector>), HasSubstr("only of entries that are present"));
  }
}

TEST(BodiesTest, ForwardedFrameHasABound) {
  Forward forward = SampleForward();
  forward.frame.assign(kMaxForwardedBytes, 1);
  EXPECT_EQ(Judge(forward, Decode<Forward>), "");
  forward.frame.push_back(1);
  EXPECT_THAT(Judge(forward, Decode<Forward>), HasSubstr("frame"));
}

TEST(BodiesTest, ChunkIndexIsBelowItsCount) {
  Chunk chunk = SampleChunk();
  chunk.index = chunk.count - 1;
  EXPECT_EQ(Judge(chunk, Decode<Chunk>), "");
  chunk.index = chunk.count;
  EXPECT_THAT(Judge(chunk, Decode<Chunk>), HasSubstr("beyond"));
  EXPECT_THAT(Judge(Chunk{}, Decode<Chunk>), HasSubstr("beyond"));
}

// A list of all-zero structs has no bytes in canonical form, and must not count as a bomb. A worker
// whose gradient equals the aggregate sends one.
TEST(BodiesTest, AllZeroColumnsDecode) {
  Proof proof;
  proof.columns.resize(kMaxParts);
  EXPECT_EQ(Judge(proof, Decode<Proof>), "");
}

TEST(BodiesTest, MissingColumnsHaveNoNumbers) {
  Proof proof;
  proof.columns.resize(1);
  proof.columns[0].missing = true;
  EXPECT_EQ(Judge(proof, Decode<Proof>), "");
  proof.columns[0].norm = -0.0;
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("must be zero"));
  proof.columns[0].norm = 0;
  for (double& s : proof.columns[0].s) {
    s = 1;
    EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("must be zero"));
    s = 0;
  }
}

TEST(BodiesTest, UnknownVerdictsAreRefused) {
  Proof proof = SampleProof();
  proof.votes[1].verdict = static_cast<Verdict>(kVerdictCount);
  EXPECT_THAT(Judge(proof, Decode<Proof>), HasSubstr("verdict: unknown"));
}

TEST(BodiesTest, BodyOfOneTypeDoesNotDecodeAsAnother) {
  EXPECT_FALSE(Decode<Commit>(Encode(SampleProof())).ok());
  EXPECT_FALSE(Decode<Proof>(Encode(SampleCommit())).ok());
  EXPECT_FALSE(Decode<Reveal>(Encode(SampleEcho())).ok());
  EXPECT_FALSE(Decode<Boot>(Encode(SampleAggregate())).ok());
}

TEST(BodiesTest, EmptyInputIsRefused) {
  EXPECT_FALSE(Decode<Boot>({}).ok());
  EXPECT_FALSE(Decode<Commit>({}).ok());
  EXPECT_FALSE(Decode<Part>({}).ok());
  EXPECT_FALSE(Decode<Aggregate>({}).ok());
  EXPECT_FALSE(Decode<Result>({}).ok());
  EXPECT_FALSE(Decode<Reveal>({}).ok());
  EXPECT_FALSE(Decode<Proof>({}).ok());
  EXPECT_FALSE(Decode<Echo>({}).ok());
  EXPECT_FALSE(Decode<SealStatus>({}).ok());
  EXPECT_FALSE(Decode<Propose>({}).ok());
  EXPECT_FALSE(Decode<SealVote>({}).ok());
  EXPECT_FALSE(Decode<Lock>({}).ok());
  EXPECT_FALSE(Decode<Close>({}).ok());
  EXPECT_FALSE(Decode<Rejoin>({}).ok());
  EXPECT_FALSE(Decode<Pull>({}).ok());
  EXPECT_FALSE(Decode<Vector>({}).ok());
  EXPECT_FALSE(Decode<BlockMessage>({}).ok());
  EXPECT_FALSE(Decode<Chunk>({}).ok());
  EXPECT_FALSE(Decode<Forward>({}).ok());
}

}  // namespace
}  // namespace ostraka::wire::bodies_test
