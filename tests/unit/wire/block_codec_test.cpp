#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "crypto/domains.h"
#include "crypto/hash.h"
#include "node/wire/limits.h"
#include "tests/unit/wire/samples.h"
#include "tests/unit/wire/show.h"

namespace ostraka::wire::block_codec_test {
namespace {

using testing::HasSubstr;

std::string Judge(const Block& block) {
  const auto decoded = DecodeBlock(EncodeBlock(block));
  if (!decoded.ok()) return base::MessageOf(decoded.status());
  EXPECT_TRUE(AreEqual(*decoded, block));
  return "";
}

PeerId Peer(std::size_t index) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(index >> 8);
  id.bytes[1] = static_cast<std::uint8_t>(index);
  return id;
}

std::vector<PeerId> Peers(std::size_t count) {
  std::vector<PeerId> peers;
  for (std::size_t i = 0; i < count; ++i) peers.push_back(Peer(i));
  return peers;
}

TEST(BlockCodecTest, EveryBitMatters) {
  const Bytes bytes = EncodeBlock(SampleBlock());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeBlock(base::ByteView(bytes).first(length)).ok()) << length;
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const auto decoded = DecodeBlock(flipped);
    EXPECT_FALSE(decoded.ok() && AreEqual(*decoded, SampleBlock())) << bit;
  }
}

TEST(BlockCodecTest, GenesisBlock) {
  Block block;
  block.genesis = true;
  EXPECT_EQ(Judge(block), "");
}

std::vector<Covering> FullCovering() {
  std::vector<Covering> covering;
  for (std::uint32_t i = 0; i < kMaxParts; ++i) covering.push_back({.column = i, .owner = Peer(i)});
  return covering;
}

Case FullCase() {
  Case open = SampleBlock().cases[0];
  open.ballots.assign(kMaxPeers, {.voter = Peer(2), .verdict = Verdict::kGuilty});
  open.covering = FullCovering();
  return open;
}

std::vector<Dispute> Disputes(std::size_t count) {
  std::vector<Dispute> disputes;
  for (std::size_t i = 0; i < count; ++i) {
    disputes.push_back({.worker = Peer(i), .aggregator = Peer(0), .since = 1});
  }
  return disputes;
}

template <typename Record>
std::vector<Record> RecordsOf(std::size_t count) {
  std::vector<Record> records(count);
  for (std::size_t i = 0; i < count; ++i) records[i].peer = Peer(i);
  return records;
}

// The largest block that a run can seal fits in its limit.
TEST(BlockCodecTest, EverythingAtItsLimit) {
  Block block = SampleBlock();
  block.members = Peers(kMaxPeers);
  block.thresholds = {.n = kMaxPeers, .t_s = kMaxPeers, .t_a = kMaxPeers};
  block.columns.assign(kMaxParts, ColumnFate::kNormCheck);
  block.removals.assign(kMaxKeys, {.peer = Peer(1),
                                   .kind = RemovalKind::kEliminate,
                                   .step = 1,
                                   .reason = {.old_text = std::string(kMaxReasonBytes, 'x')}});
  block.cases.assign(kMaxCases, FullCase());
  block.result_roots.assign(kMaxParts, Filled(3));
  block.aggregated.assign(kMaxParts, {.owner = Peer(1), .senders = Peers(kMaxPeers)});
  block.drawn.assign(kMaxPeers, SampleBlock().drawn[0]);
  for (Assignment& drawn : block.drawn) drawn.covering = FullCovering();
  block.proven = block.owing = block.joined = block.leaving = block.left = Peers(kMaxPeers);
  block.disputes = Disputes(kMaxDisputes);
  block.standings = RecordsOf<Standing>(kMaxKeys);
  block.candidates = RecordsOf<Candidate>(kMaxCandidates);
  block.voids = RecordsOf<Voids>(kMaxKeys);
  block.reach = RecordsOf<Reach>(kMaxKeys);
  block.moderators = RecordsOf<Moderator>(kMaxModerators);
  for (const Standing& standing : block.standings) {
    block.invites.push_back({.invite = Digest{standing.peer.bytes},
                             .used = 1,
                             .ends_step = 2,
                             .users = {standing.peer}});
  }
  EXPECT_EQ(Judge(block), "");
}

// What the keys that came in by invites cost a block of 256 members at most: as many uses as all
// quotas allow, by as many invites as there are or by as few as hold them.
TEST(BlockCodecTest, TheUsersOfInvitesAreASmallShareOfABlock) {
  Block block;
  block.members = Peers(kMaxPeers);
  for (std::size_t i = 0; i < kMaxUsedInvites; ++i) {
    block.invites.push_back(
        {.invite = Digest{Peer(i).bytes}, .used = 1, .ends_step = 2, .users = {Peer(i)}});
  }
  const std::size_t many = EncodeBlock(block).size();
  for (UsedInvite& invite : block.invites) invite.users.clear();
  EXPECT_LE(many - EncodeBlock(block).size(), kMaxInviteUsers * (32 + 8));
  EXPECT_LE(many, kMaxBlockBytes / 100);
  block.invites.resize(kMaxInviteUsers / kMaxInviteUses);
  for (UsedInvite& invite : block.invites) {
    invite.used = kMaxInviteUses;
    invite.users = Peers(kMaxInviteUses);
  }
  EXPECT_EQ(Judge(block), "");
  EXPECT_LE(EncodeBlock(block).size(), many);
}

// The sample with `edit` applied is refused.
template <typename Edit>
std::string JudgeEdited(Edit edit) {
  Block block = SampleBlock();
  edit(block);
  return Judge(block);
}

TEST(BlockCodecTest, ListsOfPeersHaveBounds) {
  const auto over = [](std::vector<PeerId> Block::*list) {
    return JudgeEdited([&](Block& block) { block.*list = Peers(kMaxPeers + 1); });
  };
  EXPECT_THAT(over(&Block::members), HasSubstr("members: too many"));
  EXPECT_THAT(over(&Block::proven), HasSubstr("proven: too many"));
  EXPECT_THAT(over(&Block::owing), HasSubstr("owing: too many"));
  EXPECT_THAT(over(&Block::joined), HasSubstr("joined: too many"));
  EXPECT_THAT(over(&Block::leaving), HasSubstr("leaving: too many"));
  EXPECT_THAT(over(&Block::left), HasSubstr("left: too many"));
}

TEST(BlockCodecTest, ListsOfRecordsHaveBounds) {
  EXPECT_THAT(JudgeEdited([](Block& b) { b.removals.assign(kMaxKeys + 1, b.removals[0]); }),
              HasSubstr("removals: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.cases.assign(kMaxCases + 1, b.cases[0]); }),
              HasSubstr("cases: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.drawn.assign(kMaxPeers + 1, b.drawn[0]); }),
              HasSubstr("drawn: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.disputes = Disputes(kMaxDisputes + 1); }),
              HasSubstr("disputes: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.standings = RecordsOf<Standing>(kMaxKeys + 1); }),
              HasSubstr("standings: too many"));
  EXPECT_THAT(
      JudgeEdited([](Block& b) { b.candidates = RecordsOf<Candidate>(kMaxCandidates + 1); }),
      HasSubstr("candidates: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.voids = RecordsOf<Voids>(kMaxKeys + 1); }),
              HasSubstr("voids: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.reach = RecordsOf<Reach>(kMaxKeys + 1); }),
              HasSubstr("reach: too many"));
  EXPECT_THAT(
      JudgeEdited([](Block& b) { b.moderators = RecordsOf<Moderator>(kMaxModerators + 1); }),
      HasSubstr("moderators: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.invites.resize(kMaxUsedInvites + 1); }),
              HasSubstr("invites: too many"));
}

// Attack: users that no use stands for would make room for themselves without a quota.
TEST(BlockCodecTest, AnInviteHasNoMoreUsersThanUses) {
  const auto with = [](std::uint32_t used, std::size_t users) {
    return JudgeEdited([&](Block& b) {
      b.invites = {{.invite = Filled(1), .used = used, .users = Peers(users)}};
    });
  };
  EXPECT_EQ(with(3, 3), "");
  EXPECT_THAT(with(2, 3), HasSubstr("users: more than uses"));
  EXPECT_THAT(with(kMaxPeers + 1, kMaxPeers + 1), HasSubstr("users: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) {
                b.invites = {{.invite = Filled(1), .used = 3, .revoked = true, .users = Peers(1)}};
              }),
              HasSubstr("users: more than uses"));
  EXPECT_THAT(JudgeEdited([](Block& b) {
                b.invites = {{.invite = Filled(1), .used = 3, .users = {Peer(2), Peer(1)}}};
              }),
              HasSubstr("users: must be strictly ascending"));
  EXPECT_THAT(JudgeEdited([](Block& b) {
                b.invites.clear();
                for (std::size_t i = 0; i <= kMaxInviteUsers / kMaxInviteUses; ++i) {
                  b.invites.push_back({.invite = Digest{Peer(i).bytes},
                                       .used = kMaxInviteUses,
                                       .users = Peers(kMaxInviteUses)});
                }
              }),
              HasSubstr("users: too many"))
      << "of all invites together";
}

TEST(BlockCodecTest, FieldsOfColumnsHaveBounds) {
  EXPECT_THAT(JudgeEdited([](Block& b) { b.columns.resize(kMaxParts + 1); }),
              HasSubstr("columns: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.result_roots.resize(kMaxParts + 1); }),
              HasSubstr("result roots: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.aggregated.resize(kMaxParts + 1); }),
              HasSubstr("aggregated: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.aggregated[0].senders = Peers(kMaxPeers + 1); }),
              HasSubstr("senders: too many"));
}

TEST(BlockCodecTest, FieldsOfRecordsHaveBounds) {
  EXPECT_THAT(
      JudgeEdited([](Block& b) { b.removals[0].reason.old_text.assign(kMaxReasonBytes + 1, 'x'); }),
      HasSubstr("reason: too long"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.cases[0].ballots.resize(kMaxPeers + 1); }),
              HasSubstr("ballots: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.cases[0].covering.resize(kMaxParts + 1); }),
              HasSubstr("covering: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.drawn[0].covering.resize(kMaxParts + 1); }),
              HasSubstr("covering: too many"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.drawn[0].covering[0].column = kMaxParts; }),
              HasSubstr("column: out of range"));
}

TEST(BlockCodecTest, CoveringIsInTheOrderOfColumns) {
  EXPECT_THAT(
      JudgeEdited([](Block& b) { std::swap(b.cases[0].covering[0], b.cases[0].covering[1]); }),
      HasSubstr("covering: must be strictly ascending"));
  EXPECT_THAT(JudgeEdited([](Block& b) { b.drawn[0].covering.assign(2, {}); }),
              HasSubstr("covering: must be strictly ascending"));
}

// The size of a block of 256 members without faults: a row of the ledger in each step.
TEST(BlockCodecTest, AQuietBlockIsSmall) {
  Block block;
  block.members = block.proven = Peers(kMaxPeers);
  block.columns.assign(kMaxParts, ColumnFate::kApplied);
  block.result_roots.assign(kMaxParts, Filled(3));
  block.aggregated.assign(kMaxParts, {.owner = Peer(1), .senders = Peers(kMaxPeers)});
  EXPECT_EQ(Judge(block), "");
  EXPECT_LT(EncodeBlock(block).size(), 64 * 1024U);
}

TEST(BlockCodecTest, ListsByKeyAscend) {
  const auto reversed = [](auto member) {
    Block block = SampleBlock();
    auto& list = block.*member;
    if (list.size() < 2) list.insert(list.begin(), 2, list.at(0));
    std::reverse(list.begin(), list.end());
    return Judge(block);
  };
  EXPECT_THAT(reversed(&Block::proven), HasSubstr("proven: must be strictly ascending"));
  EXPECT_THAT(reversed(&Block::owing), HasSubstr("owing: must be strictly ascending"));
  EXPECT_THAT(reversed(&Block::joined), HasSubstr("joined: must be strictly ascending"));
  EXPECT_THAT(reversed(&Block::disputes), HasSubstr("disputes: must be strictly ascending"));
  EXPECT_THAT(reversed(&Block::standings), HasSubstr("standings: must be strictly ascending"));
  EXPECT_THAT(reversed(&Block::candidates), HasSubstr("candidates: must be strictly ascending"));
  Block reach = SampleReachBlock();
  std::reverse(reach.reach.begin(), reach.reach.end());
  EXPECT_THAT(Judge(reach), HasSubstr("reach: must be strictly ascending"));
}

// One worker may have disputes with many, and many with one.
TEST(BlockCodecTest, DisputesAreOfPairs) {
  Block block = SampleBlock();
  block.disputes = {{.worker = Peer(1), .aggregator = Peer(2), .since = 9},
                    {.worker = Peer(1), .aggregator = Peer(3), .since = 1},
                    {.worker = Peer(2), .aggregator = Peer(1), .since = 5}};
  EXPECT_EQ(Judge(block), "");
  block.disputes[1].aggregator = Peer(2);
  EXPECT_THAT(Judge(block), HasSubstr("disputes"));
}

TEST(BlockCodecTest, AColumnsSendersAreAnyOfTheBlocks) {
  Block block = SampleBlock();
  block.aggregated = {{.owner = Peer(9), .senders = Peers(3)},
                      {.owner = Peer(8), .senders = {}},
                      {.owner = Peer(7), .senders = {Peer(2), Peer(300), Peer(301)}}};
  EXPECT_EQ(Judge(block), "");
  block.aggregated = {{.owner = Peer(9), .senders = {}}};
  EXPECT_EQ(Judge(block), "");
}

TEST(BlockCodecTest, RemovalInTheFirstStepDiffersFromNone) {
  Block block = SampleBlock();
  block.last_removal_step = 0;
  EXPECT_EQ(Judge(block), "");
  const Digest first = BlockDigest(block);
  block.last_removal_step.reset();
  EXPECT_EQ(Judge(block), "");
  EXPECT_NE(BlockDigest(block), first);
}

TEST(BlockCodecTest, TheDigestIsOfTheEncodedBlock) {
  EXPECT_EQ(BlockDigest(SampleBlock()),
            crypto::Hash(crypto::kDomainBlock, EncodeBlock(SampleBlock())));
}

TEST(BlockCodecTest, MembersAscend) {
  Block block = SampleBlock();
  std::swap(block.members[0], block.members[1]);
  EXPECT_THAT(Judge(block), HasSubstr("ascending"));
  block.members[0] = block.members[1];
  EXPECT_THAT(Judge(block), HasSubstr("ascending"));
}

// Otherwise quorum() would wrap around.
TEST(BlockCodecTest, NoMoreFaultsThanMembers) {
  Block block = SampleBlock();
  block.thresholds = {.n = 3, .t_s = 4, .t_a = 0};
  EXPECT_THAT(Judge(block), HasSubstr("thresholds"));
  block.thresholds = {.n = 3, .t_s = 0, .t_a = 4};
  EXPECT_THAT(Judge(block), HasSubstr("thresholds"));
}

// Otherwise the number of trained steps would wrap around.
TEST(BlockCodecTest, RunClosesAfterItBeganAndWithinTheBound) {
  Block block = SampleBlock();
  block.closing = kClosingSteps + 1;
  EXPECT_EQ(Judge(block), "");
  ++block.closing;
  EXPECT_THAT(Judge(block), HasSubstr("closing: out of range"));
  block.step = 1;
  block.closing = 2;
  EXPECT_EQ(Judge(block), "");
  EXPECT_EQ(TrainedSteps(block), 1U);
  block.closing = 3;
  EXPECT_THAT(Judge(block), HasSubstr("closes"));
  Block genesis;
  genesis.genesis = true;
  genesis.closing = 1;
  EXPECT_THAT(Judge(genesis), HasSubstr("closes"));
}

TEST(BlockCodecTest, ReasonsAreOneLineWithoutControlCharacters) {
  Block block = SampleBlock();
  block.removals[0].reason.old_text = "caf\xc3\xa9 |s| > 0.5";
  EXPECT_EQ(Judge(block), "");
  for (const char* bad : {"two\nlines", "\x1b[31mred", "bell\a", "delete\x7f"}) {
    block.removals[0].reason.old_text = bad;
    EXPECT_THAT(Judge(block), HasSubstr("control character"));
  }
  block.removals[0].reason.old_text = std::string("nul\0", 4);
  EXPECT_THAT(Judge(block), HasSubstr("control character"));
}

TEST(BlockCodecTest, ReasonIsACodeOrAnOldText) {
  Block block = SampleReasonBlock();
  EXPECT_EQ(Judge(block), "");
  block.removals[0].reason.old_text = "it lied";
  EXPECT_THAT(Judge(block), HasSubstr("reason: is a text"));
  block.removals[0].reason = {.cause = static_cast<Cause>(kCauseCount)};
  EXPECT_THAT(Judge(block), HasSubstr("cause: unknown"));
}

TEST(BlockCodecTest, UnknownKindsAreRefused) {
  Block block = SampleBlock();
  block.removals[0].kind = static_cast<RemovalKind>(kRemovalKindCount);
  EXPECT_THAT(Judge(block), HasSubstr("removal kind: unknown"));
  block = SampleBlock();
  block.columns[1] = static_cast<ColumnFate>(kColumnFateCount);
  EXPECT_THAT(Judge(block), HasSubstr("columns: unknown"));
  block = SampleBlock();
  block.cases[0].ballots[0].verdict = static_cast<Verdict>(kVerdictCount);
  EXPECT_THAT(Judge(block), HasSubstr("verdict: unknown"));
}

}  // namespace
}  // namespace ostraka::wire::block_codec_test
