#include "node/train/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/train/digest_of.h"

namespace ostraka::train::batch_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Lt;

// The rows come from an independent program (BLAKE2b, ChaCha20 and Floyd's sampling in Python).
TEST(DrawBatch, IsTheSameOnEveryMachine) {
  EXPECT_THAT(DrawBatch(SeedOf(1), 1000, 8), ElementsAre(567, 719, 755, 829, 907, 927, 958, 972));
}

TEST(DrawBatch, DrawsDistinctRowsInOrder) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto rows = DrawBatch(SeedOf(seed), 40, 32);
    ASSERT_EQ(rows.size(), 32u);
    ASSERT_THAT(rows, Each(Lt(40u)));
    ASSERT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    ASSERT_EQ(std::adjacent_find(rows.begin(), rows.end()), rows.end());
  }
}

TEST(DrawBatch, CanDrawAllRowsOrNone) {
  EXPECT_THAT(DrawBatch(SeedOf(1), 5, 5), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(DrawBatch(SeedOf(1), 5, 0), IsEmpty());
  EXPECT_THAT(DrawBatch(SeedOf(1), 0, 0), IsEmpty());
}

TEST(DrawBatch, ReachesTheLargestIndex) {
  const auto rows = DrawBatch(SeedOf(1), 0xffffffff, 64);
  EXPECT_EQ(rows.size(), 64u);
  EXPECT_GT(rows.back(), 0xf0000000u);
}

TEST(DrawBatch, EveryRowAndEveryPairIsEquallyLikely) {
  constexpr std::uint32_t kRows = 12;
  constexpr std::uint32_t kBatch = 4;
  constexpr int kDraws = 20'000;
  std::vector<std::vector<int>> together(kRows, std::vector<int>(kRows, 0));
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto rows = DrawBatch(SeedOf(static_cast<std::uint64_t>(draw)), kRows, kBatch);
    for (const std::uint32_t a : rows) {
      for (const std::uint32_t b : rows) ++together[a][b];
    }
  }
  // Binomial counts; five standard deviations, fixed seeds.
  const auto expect_near = [](int count, double probability) {
    const double sigma = std::sqrt(kDraws * probability * (1 - probability));
    EXPECT_NEAR(count, kDraws * probability, 5 * sigma);
  };
  for (std::uint32_t a = 0; a < kRows; ++a) {
    expect_near(together[a][a], double{kBatch} / kRows);
    for (std::uint32_t b = 0; b < a; ++b) {
      expect_near(together[a][b], double{kBatch} * (kBatch - 1) / (kRows * (kRows - 1)));
    }
  }
}

TEST(DrawBatchDeathTest, RefusesMoreRowsThanThereAre) {
  EXPECT_DEATH(DrawBatch(SeedOf(1), 5, 6), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::train::batch_test
