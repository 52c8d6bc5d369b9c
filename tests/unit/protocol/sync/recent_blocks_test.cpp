#include "node/protocol/sync/recent_blocks.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::recent_blocks_test {
namespace {

wire::Block BlockOf(std::uint64_t step, bool genesis = false) {
  wire::Block block;
  block.step = step;
  block.genesis = genesis;
  return block;
}

TEST(RecentBlocks, KeepsThemAsTheLedgerDoes) {
  RecentBlocks recent(4);
  recent.Add(BlockOf(0, true));
  recent.Add(BlockOf(0));
  EXPECT_EQ(recent.size(), 2U) << "genesis and the block of step 0 have two heights";
  const RecentBlocks::Kept* kept = recent.Find(1);
  ASSERT_NE(kept, nullptr);
  EXPECT_FALSE(kept->genesis);
  EXPECT_EQ(kept->encoded, wire::EncodeBlock(BlockOf(0)));
  EXPECT_EQ(kept->digest, wire::BlockDigest(BlockOf(0)));
  EXPECT_TRUE(recent.Find(0)->genesis);
  EXPECT_EQ(recent.Find(2), nullptr);
}

TEST(RecentBlocks, ForgetsTheLowestAndNoMore) {
  RecentBlocks recent(3);
  for (std::uint64_t step = 0; step < 10; ++step) recent.Add(BlockOf(step));
  EXPECT_EQ(recent.size(), 3U);
  EXPECT_EQ(recent.all().begin()->first, 8U);
  EXPECT_EQ(recent.all().rbegin()->first, 10U);
  recent.Add(BlockOf(9));  // again: takes no room
  EXPECT_EQ(recent.size(), 3U);
  EXPECT_NE(recent.Find(8), nullptr);
}

TEST(RecentBlocksDeathTest, ABlockBelowAFullStoreIsABug) {
  RecentBlocks recent(2);
  recent.Add(BlockOf(5));
  recent.Add(BlockOf(6));
  EXPECT_DEATH(recent.Add(BlockOf(1)), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::recent_blocks_test
