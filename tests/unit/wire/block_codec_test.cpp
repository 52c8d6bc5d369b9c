#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/wire/limits.h"
#include "tests/unit/wire/fields.h"
#include "tests/unit/wire/samples.h"

namespace ostraka::wire {
namespace {

using testing::HasSubstr;

std::string Judge(const Block& block) {
  const auto decoded = DecodeBlock(EncodeBlock(block));
  if (!decoded.ok()) return base::MessageOf(decoded.status());
  EXPECT_TRUE(Fields(*decoded) == Fields(block));
  return "";
}

PeerId Peer(std::size_t index) {
  PeerId id;
  id.bytes[0] = static_cast<std::uint8_t>(index >> 8);
  id.bytes[1] = static_cast<std::uint8_t>(index);
  return id;
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
    EXPECT_FALSE(decoded.ok() && Fields(*decoded) == Fields(SampleBlock())) << bit;
  }
}

TEST(BlockCodecTest, GenesisBlock) {
  Block block;
  block.genesis = true;
  EXPECT_EQ(Judge(block), "");
}

// The largest block that a run can seal fits in its limit.
TEST(BlockCodecTest, EverythingAtItsLimit) {
  Block block = SampleBlock();
  block.members.clear();
  for (std::size_t i = 0; i < kMaxPeers; ++i) block.members.push_back(Peer(i));
  block.thresholds = {.n = kMaxPeers, .t_s = kMaxPeers, .t_a = kMaxPeers};
  block.columns.assign(kMaxParts, ColumnFate::kNormCheck);
  block.removals.assign(kMaxPeers, {.peer = Peer(1),
                                    .kind = RemovalKind::kEliminate,
                                    .step = 1,
                                    .reason = std::string(kMaxReasonBytes, 'x')});
  Case open = SampleBlock().cases[0];
  open.ballots.assign(kMaxPeers, {.voter = Peer(2), .verdict = Verdict::kGuilty});
  block.cases.assign(kMaxVotes, open);
  EXPECT_EQ(Judge(block), "");

  Block over = block;
  over.members.push_back(Peer(kMaxPeers));
  EXPECT_THAT(Judge(over), HasSubstr("members: too many"));
  over = block;
  over.columns.push_back(ColumnFate::kApplied);
  EXPECT_THAT(Judge(over), HasSubstr("columns: too many"));
  over = block;
  over.removals.push_back(block.removals[0]);
  EXPECT_THAT(Judge(over), HasSubstr("removals: too many"));
  over = block;
  over.removals[0].reason += "x";
  EXPECT_THAT(Judge(over), HasSubstr("reason: too long"));
  over = block;
  over.cases.push_back(open);
  EXPECT_THAT(Judge(over), HasSubstr("cases: too many"));
  over = block;
  over.cases[0].ballots.push_back(open.ballots[0]);
  EXPECT_THAT(Judge(over), HasSubstr("voters: too many"));
}

TEST(BlockCodecTest, MembersAscend) {
  Block block = SampleBlock();
  std::swap(block.members[0], block.members[1]);
  EXPECT_THAT(Judge(block), HasSubstr("ascending"));
  block.members[0] = block.members[1];
  EXPECT_THAT(Judge(block), HasSubstr("ascending"));
}

// Else quorum() would wrap round.
TEST(BlockCodecTest, NoMoreFaultsThanMembers) {
  Block block = SampleBlock();
  block.thresholds = {.n = 3, .t_s = 4, .t_a = 0};
  EXPECT_THAT(Judge(block), HasSubstr("thresholds"));
  block.thresholds = {.n = 3, .t_s = 0, .t_a = 4};
  EXPECT_THAT(Judge(block), HasSubstr("thresholds"));
}

TEST(BlockCodecTest, ReasonsAreOneLineWithoutControlCharacters) {
  Block block = SampleBlock();
  block.removals[0].reason = "caf\xc3\xa9 |s| > 0.5";
  EXPECT_EQ(Judge(block), "");
  for (const char* bad : {"two\nlines", "\x1b[31mred", "bell\a", "delete\x7f"}) {
    block.removals[0].reason = bad;
    EXPECT_THAT(Judge(block), HasSubstr("control character"));
  }
  block.removals[0].reason = std::string("nul\0", 4);
  EXPECT_THAT(Judge(block), HasSubstr("control character"));
}

TEST(BlockCodecTest, UnknownKindsAreRefused) {
  Block block = SampleBlock();
  block.removals[0].kind = static_cast<RemovalKind>(kRemovalKindCount);
  EXPECT_THAT(Judge(block), HasSubstr("removal kind: unknown"));
  block = SampleBlock();
  block.columns[1] = static_cast<ColumnFate>(kColumnFateCount);
  EXPECT_THAT(Judge(block), HasSubstr("column fate: unknown"));
  block = SampleBlock();
  block.cases[0].ballots[0].verdict = static_cast<Verdict>(kVerdictCount);
  EXPECT_THAT(Judge(block), HasSubstr("verdict: unknown"));
}

}  // namespace
}  // namespace ostraka::wire
