#include "node/base/rng.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace ostraka::base::rng_test {
namespace {

std::vector<std::uint64_t> Draws(Rng rng, std::size_t count) {
  std::vector<std::uint64_t> draws(count);
  for (std::uint64_t& draw : draws) draw = rng.Next();
  return draws;
}

// Values published with SplitMix64, so a change of a constant cannot hide behind our own goldens.
TEST(Rng, GivesSplitMix64sValues) {
  EXPECT_EQ(Draws(Rng(1234567), 5),
            (std::vector<std::uint64_t>{6457827717110365317ULL, 3203168211198807973ULL,
                                        9817491932198370423ULL, 4593380528125082431ULL,
                                        16408922859458223821ULL}));
  EXPECT_EQ(Draws(Rng(0), 3),
            (std::vector<std::uint64_t>{0xe220a8397b1dcdafULL, 0x6e789e6aa1b965f4ULL,
                                        0x06c45d188009454fULL}));
}

// The remaining goldens come from a second implementation, written in Python.
TEST(Rng, ForksToFixedValues) {
  EXPECT_EQ(Rng(42).Fork("network").Next(), 8525638076005930126ULL);
  EXPECT_EQ(Rng(42).Fork("network", 7).Next(), 17637074566873361787ULL);
  EXPECT_EQ(Rng(42).Fork("").Next(), 13005205530287868788ULL);
  EXPECT_EQ(Rng(42).Fork("peer", 3).Fork("coin").Next(), 6676145365141771883ULL);
}

TEST(Rng, DrawsFixedNumbersInRanges) {
  Rng between(9);
  std::vector<std::int64_t> numbers(8);
  for (std::int64_t& number : numbers) number = between.Between(-5, 5);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{-3, -1, -2, -1, -2, -5, -4, 2}));

  Rng chance(11);
  std::string outcomes;
  for (int i = 0; i < 16; ++i) outcomes += chance.Chance(1, 3) ? '1' : '0';
  EXPECT_EQ(outcomes, "1010001000000010");
}

TEST(Rng, DrawsFixedFloatingPointNumbers) {
  Rng unit(5);
  EXPECT_EQ(unit.Unit(), 0x1.8c0cec328e270p-2);
  EXPECT_EQ(unit.Unit(), 0x1.812e629b272e6p-1);
  EXPECT_EQ(unit.Unit(), 0x1.dc969f80835e0p-3);
  Rng normal(5);
  EXPECT_EQ(normal.Normal(), -0x1.b1720395cff20p-1);
  EXPECT_EQ(normal.Normal(), 0x1.488b376a07f2cp+0);
  EXPECT_EQ(normal.Normal(), 0x1.7d1e72dab7750p-1);
}

TEST(Below, DrawsAgainIfARemainderWouldBeBiased) {
  // Of this seed's draws the first two fall into the incomplete last interval of 3 * 2^62.
  Rng rng(20);
  EXPECT_EQ(rng.Below(3ULL << 62), 4645975589145387511ULL);
  Rng skipped(20);
  for (int i = 0; i < 3; ++i) skipped.Next();
  EXPECT_EQ(rng.Next(), skipped.Next()) << "exactly three draws were used";
}

TEST(Below, KeepsTheFirstDrawThatIsNotInTheIncompleteInterval) {
  // The seed whose first draw is 2^62 = 2^64 mod (3 * 2^62), found by inverting SplitMix64.
  constexpr std::uint64_t kSeed = 0x7d6c2e9076b45a87ULL;
  ASSERT_EQ(Rng(kSeed).Next(), 1ULL << 62);
  EXPECT_EQ(Rng(kSeed).Below(3ULL << 62), 1ULL << 62);
}

TEST(Below, IsUnbiasedForALargeBound) {
  // A plain remainder would put 1/2 of the draws in the first third, not 1/3.
  Rng rng(1);
  int first_third = 0;
  constexpr int kDraws = 30'000;
  for (int i = 0; i < kDraws; ++i) first_third += rng.Below(3ULL << 62) < (1ULL << 62) ? 1 : 0;
  EXPECT_NEAR(first_third, kDraws / 3.0, 400);  // five standard deviations
}

TEST(Below, ReachesEveryValueEquallyOften) {
  Rng rng(2);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100'000; ++i) ++counts[rng.Below(counts.size())];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 475);  // five standard deviations
}

RC_GTEST_PROP(Below, StaysBelowItsBound, (std::uint64_t seed, std::uint64_t bound)) {
  RC_PRE(bound > 0);
  RC_ASSERT(Rng(seed).Below(bound) < bound);
}

TEST(Below, TakesTheExtremeBounds) {
  EXPECT_EQ(Rng(3).Below(1), 0U);
  EXPECT_LT(Rng(3).Below(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(BelowDeathTest, RefusesABoundOfZero) { EXPECT_DEATH(Rng(3).Below(0), "bound > 0"); }

RC_GTEST_PROP(Between, StaysInItsRange, (std::uint64_t seed, std::int64_t a, std::int64_t b)) {
  const std::int64_t low = std::min(a, b);
  const std::int64_t high = std::max(a, b);
  const std::int64_t draw = Rng(seed).Between(low, high);
  RC_ASSERT(low <= draw && draw <= high);
}

TEST(Between, TakesTheWholeRangeAndASingleValue) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  // All 2^64 values: their number does not fit, so every draw is used as it is.
  EXPECT_EQ(
      static_cast<std::uint64_t>(Rng(4).Between(kMin, kMax)) - static_cast<std::uint64_t>(kMin),
      Rng(4).Next());
  EXPECT_EQ(Rng(4).Between(kMax, kMax), kMax);
  EXPECT_EQ(Rng(4).Between(kMin, kMin), kMin);
}

TEST(BetweenDeathTest, RefusesAnEmptyRange) { EXPECT_DEATH(Rng(3).Between(1, 0), "low <= high"); }

TEST(Chance, IsNeverAtZeroAndAlwaysAtOne) {
  Rng rng(6);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(rng.Chance(0, 7));
    EXPECT_TRUE(rng.Chance(7, 7));
  }
}

TEST(Unit, StaysInItsHalfOpenIntervalWithTheRightMean) {
  Rng rng(7);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double draw = rng.Unit();
    ASSERT_GE(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(Normal, HasMeanZeroVarianceOneAndEndsAtSix) {
  Rng rng(8);
  double sum = 0;
  double sum_of_squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double draw = rng.Normal();
    ASSERT_LE(draw, 6.0);
    ASSERT_GE(draw, -6.0);
    sum += draw;
    sum_of_squares += draw * draw;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.016);
  EXPECT_NEAR(sum_of_squares / kDraws, 1.0, 0.025);
}

TEST(Fork, DoesNotChangeItsParent) {
  const Rng parent(42);
  (void)parent.Fork("network");
  EXPECT_EQ(Draws(parent, 4), Draws(Rng(42), 4));
}

TEST(Fork, IsNotShiftedByItsSiblingsDraws) {
  const Rng parent(42);
  Rng busy = parent.Fork("busy");
  for (int i = 0; i < 100; ++i) busy.Next();
  EXPECT_EQ(Draws(parent.Fork("quiet"), 4), Draws(Rng(42).Fork("quiet"), 4));
}

TEST(Fork, DependsOnTheStateOfItsParent) {
  Rng parent(42);
  const std::vector<std::uint64_t> before = Draws(parent.Fork("network"), 4);
  parent.Next();
  EXPECT_NE(Draws(parent.Fork("network"), 4), before);
}

TEST(Fork, GivesDisjointStreams) {
  // 402 streams of 50 draws: of 2^64 values none may be drawn twice (chance about 1e-11).
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  const auto collect = [&](const Rng& rng) {
    for (const std::uint64_t draw : Draws(rng, 50)) seen.insert(draw);
    drawn += 50;
  };
  const Rng parent(42);
  collect(parent);
  collect(parent.Fork("peer").Fork("peer"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    collect(parent.Fork("peer", i));
    collect(parent.Fork("peer" + std::to_string(i)));
  }
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Fork, GivesUncorrelatedNeighbours) {
  // Bits of children with neighbouring indices agree half of the time.
  const Rng parent(42);
  int agreeing = 0;
  constexpr int kPairs = 1000;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const std::uint64_t difference =
        parent.Fork("peer", i).Next() ^ parent.Fork("peer", i + 1).Next();
    agreeing += 64 - __builtin_popcountll(difference);
  }
  EXPECT_NEAR(agreeing, 32 * kPairs, 640);  // five standard deviations
}

}  // namespace
}  // namespace ostraka::base::rng_test
