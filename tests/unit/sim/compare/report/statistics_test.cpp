#include "sim/compare/report/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "node/base/rng.h"

namespace ostraka::compare::statistics_test {
namespace {

// Tables of Student's t, as in any textbook.
TEST(StudentQuantile, MatchesTheTables) {
  EXPECT_NEAR(StudentQuantile(0.975, 1), 12.7062047362, 1e-8);
  EXPECT_NEAR(StudentQuantile(0.975, 2), 4.3026527297, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.975, 4), 2.7764451052, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.995, 4), 4.6040948714, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.95, 9), 1.8331129327, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.975, 30), 2.0422724563, 1e-9);
  EXPECT_NEAR(StudentQuantile(0.975, 1e6), 1.9599663, 1e-6);
  EXPECT_DOUBLE_EQ(StudentQuantile(0.025, 4), -StudentQuantile(0.975, 4));
  EXPECT_EQ(StudentQuantile(0.5, 4), 0);
}

TEST(MeanInterval, MatchesTheFormula) {
  const double values[] = {1, 2, 3, 4, 5};
  const Interval interval = MeanInterval(values);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  // s^2 = 2.5, so the half-width is 2.77644 sqrt(2.5 / 5).
  EXPECT_NEAR(interval.high - 3, 2.7764451052 * std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(3 - interval.low, interval.high - 3, 1e-12);
}

TEST(MeanInterval, OneValueHasAnInfiniteInterval) {
  const double value[] = {0.5};
  const Interval interval = MeanInterval(value);
  EXPECT_EQ(interval.mean, 0.5);
  EXPECT_EQ(interval.low, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(interval.high, std::numeric_limits<double>::infinity());
}

TEST(MeanInterval, EqualValuesHaveNoWidth) {
  const double values[] = {0.25, 0.25, 0.25};
  EXPECT_EQ(MeanInterval(values).low, 0.25);
  EXPECT_EQ(MeanInterval(values).high, 0.25);
}

TEST(WorstInterval, IsTheLowestEndOfEach) {
  const Interval worst = WorstInterval({{0.9, 0.91, 0.92}, {0.59, 0.6, 0.61}});
  const double second[] = {0.59, 0.6, 0.61};
  EXPECT_NEAR(worst.mean, 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(worst.low, MeanInterval(second).low);
  EXPECT_DOUBLE_EQ(worst.high, MeanInterval(second, 0.0125).high);
}

// The promise, by simulation: of 2,000 comparisons of four attacks with normal noise, the interval
// holds the true worst mean in 95 % or more.
TEST(WorstInterval, CoversTheTrueWorst) {
  base::Rng rng(7);
  const double truth[] = {0.5, 0.5, 0.52, 0.9};
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> values;
    for (const double mean : truth) {
      auto& attack = values.emplace_back(5);
      for (double& value : attack) value = mean + 0.05 * rng.Normal();
    }
    const Interval interval = WorstInterval(values);
    if (interval.low <= 0.5 && 0.5 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, kTrials * 95 / 100);
}

TEST(TellApart, UsesThePairs) {
  // Seeds differ more than rules do; in each seed the first is a little better.
  const double a[] = {0.51, 0.71, 0.915, 0.61};
  const double b[] = {0.50, 0.70, 0.90, 0.60};
  EXPECT_TRUE(TellApart(a, b));
  EXPECT_TRUE(TellApart(b, a));
  const double mixed[] = {0.52, 0.68, 0.92, 0.58};
  EXPECT_FALSE(TellApart(mixed, b));
  EXPECT_FALSE(TellApart(b, b));
}

TEST(TellApart, NeedsTwoPairs) {
  const double a[] = {1};
  const double b[] = {0};
  EXPECT_FALSE(TellApart(a, b));
}

}  // namespace
}  // namespace ostraka::compare::statistics_test
