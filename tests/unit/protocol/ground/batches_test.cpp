#include "node/protocol/ground/batches.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::batches_test {
namespace {

using scene::PeerNumber;

TEST(BatchesTest, AMemberThatIsNotListedAveragesTheLeast) {
  TrainingPlan plan;
  plan.batches = 2;
  plan.most_batches = 4;
  const std::vector<wire::BatchCount> counts = {{PeerNumber(1), 3}, {PeerNumber(4), 4}};
  EXPECT_EQ(BatchesOf(PeerNumber(1), counts, plan), 3u);
  EXPECT_EQ(BatchesOf(PeerNumber(4), counts, plan), 4u);
  for (const std::uint32_t other : {0U, 2U, 5U}) {
    EXPECT_EQ(BatchesOf(PeerNumber(other), counts, plan), 2u) << other;
  }
}

TEST(BatchesTest, ACommitSaysACountOfTheRangeAndNoneWhereThereIsNoRange) {
  TrainingPlan plan;
  plan.batches = 2;
  plan.most_batches = 4;
  for (const std::uint32_t count : {0U, 1U, 5U, 65'535U})
    EXPECT_FALSE(MaySay(count, plan)) << count;
  for (const std::uint32_t count : {2U, 3U, 4U}) EXPECT_TRUE(MaySay(count, plan)) << count;
  plan.most_batches = 2;
  EXPECT_TRUE(MaySay(0, plan));
  EXPECT_FALSE(MaySay(2, plan));
}

// Attack: a file of evidence with a block that its accused alone signed named counts of 0 and of
// 2^32; who verified it crashed, or computed for ever.
TEST(BatchesTest, ABlockOfTheRunListsCountsOfTheRangeAboveTheLeast) {
  TrainingPlan plan;
  plan.batches = 2;
  plan.most_batches = 4;
  EXPECT_TRUE(MayBeCounts({}, plan));
  EXPECT_TRUE(MayBeCounts({{PeerNumber(1), 3}, {PeerNumber(2), 4}}, plan));
  for (const std::uint32_t count : {0U, 1U, 2U, 5U, 4'294'967'295U}) {
    EXPECT_FALSE(MayBeCounts({{PeerNumber(1), 3}, {PeerNumber(2), count}}, plan)) << count;
  }
  plan.most_batches = 2;
  EXPECT_FALSE(MayBeCounts({{PeerNumber(1), 2}}, plan));
}

TEST(BatchesTest, ThePlanIsOfTheBlockBefore) {
  wire::Block block;
  block.randomness.bytes.fill(7);
  block.batch_counts = {{PeerNumber(1), 3}};
  EXPECT_EQ(BatchPlanOf(block).randomness, block.randomness);
  EXPECT_EQ(BatchPlanOf(block).counts, block.batch_counts);
}

}  // namespace
}  // namespace ostraka::protocol::batches_test
