#include "node/protocol/seal/inside/repeats.h"

#include <gtest/gtest.h>

#include <vector>

namespace ostraka::protocol::repeats_test {
namespace {

constexpr base::Duration kStep = base::Seconds(2);
base::Time At(std::int64_t seconds) { return base::Time{} + base::Seconds(seconds); }

TEST(SealRepeatsTest, TheFirstIsAStepAfterTheWaitBeganAndTheOthersAStepApart) {
  SealRepeats repeats;
  EXPECT_FALSE(repeats.TakeDue(At(10), At(10), kStep));
  EXPECT_EQ(repeats.next(), At(12));
  EXPECT_FALSE(repeats.alone());
  EXPECT_TRUE(repeats.TakeDue(At(13), At(10), kStep));
  EXPECT_TRUE(repeats.OnRepeat(false));
  EXPECT_TRUE(repeats.alone());
  EXPECT_EQ(repeats.next(), At(15));
  repeats.Stop();
  EXPECT_FALSE(repeats.alone());
  EXPECT_EQ(repeats.next(), std::nullopt);
}

// The gate may stay shut for all members until the deadline of the phase.
TEST(SealRepeatsTest, OfCloseEverFewerCountAsUnhelpedAndOfStatusAll) {
  SealRepeats repeats;
  repeats.TakeDue(At(0), At(0), kStep);
  std::vector<int> unhelped;
  for (int i = 1; i <= 64; ++i) {
    if (repeats.OnRepeat(true)) unhelped.push_back(i);
  }
  EXPECT_EQ(unhelped, (std::vector<int>{1, 2, 4, 8, 16, 32, 48, 64}));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(repeats.OnRepeat(false));
  repeats.Stop();
  repeats.TakeDue(At(0), At(0), kStep);
  EXPECT_TRUE(repeats.OnRepeat(true)) << "counted anew";
}

TEST(SealRepeatsTest, AnotherWaitCountsFromItsOwnBeginning) {
  SealRepeats repeats;
  repeats.TakeDue(At(10), At(10), kStep);
  repeats.Stop();
  EXPECT_FALSE(repeats.TakeDue(At(18), At(18), kStep));
  EXPECT_EQ(repeats.next(), At(20));
}

TEST(SealRepeatsDeathTest, NothingIsRepeatedWithoutAWait) {
  SealRepeats repeats;
  EXPECT_DEATH(repeats.OnRepeat(true), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::protocol::repeats_test
