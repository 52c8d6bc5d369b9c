#include "node/host/report/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

namespace ostraka::host::trend_test {
namespace {

// Evaluations of the first step and of every tenth one.
std::vector<CurvePoint> Losses(std::initializer_list<double> losses) {
  std::vector<CurvePoint> points;
  for (const double loss : losses) {
    points.push_back({points.empty() ? 0 : 10 * points.size() - 1, loss, 0});
  }
  return points;
}

TEST(TrendTest, ALossThatRisesIsToldFromTheThirdEvaluationOn) {
  EXPECT_EQ(TrendOf({}), Trend::kFine);
  EXPECT_EQ(TrendOf(Losses({1, 9})), Trend::kFine) << "too early to say";
  EXPECT_EQ(TrendOf(Losses({1, 9, 1.1})), Trend::kFine) << "noise";
  EXPECT_EQ(TrendOf(Losses({1, 9, 1.2})), Trend::kRising);
}

TEST(TrendTest, ALossThatIsNoNumberIsToldAtOnce) {
  const double none = std::nan("");
  EXPECT_EQ(TrendOf(Losses({none})), Trend::kDiverged);
  EXPECT_EQ(TrendOf(Losses({1, std::numeric_limits<double>::infinity()})), Trend::kDiverged);
  EXPECT_EQ(TrendOf(Losses({none, 1, 5})), Trend::kFine) << "there is nothing to compare with";
}

TEST(TrendTest, ALossThatDoesNotFallIsToldAfterFiftySteps) {
  EXPECT_EQ(TrendOf(Losses({2.3, 2.3, 2.3, 2.3, 2.3})), Trend::kFine) << "step 39: too early";
  EXPECT_EQ(TrendOf(Losses({2.3, 2.3, 2.3, 2.3, 2.3, 2.3})), Trend::kFlat);
  EXPECT_EQ(TrendOf(Losses({2.3, 1.1, 1.2, 2.2, 2.3, 2.0})), Trend::kFine) << "2.17 on average";
  EXPECT_EQ(TrendOf(Losses({2.3, 1.1, 1.2, 2.2, 2.3, 2.4})), Trend::kFlat);
  // One evaluation may be bad while training goes well.
  EXPECT_EQ(TrendOf(Losses({2.3, 1.1, 1.2, 1.1, 0.9, 2.5})), Trend::kFine);
}

TEST(TrendTest, ManyEvaluationsOfFewStepsAreTooEarly) {
  std::vector<CurvePoint> points;
  for (std::uint64_t step = 0; step < 49; ++step) points.push_back({step, 1, 0});
  EXPECT_EQ(TrendOf(points), Trend::kFine);
  points.push_back({49, 1, 0});
  EXPECT_EQ(TrendOf(points), Trend::kFlat);
}

// After a restart the curve may begin at a model that is as good as it gets.
TEST(TrendTest, ACurveThatBeginsLateIsNeverFlat) {
  std::vector<CurvePoint> points = Losses({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  for (CurvePoint& point : points) point.step += 10;
  EXPECT_EQ(TrendOf(points), Trend::kFine);
}

TEST(TrendTest, TheTroubleHasTheNumbersAndARemedy) {
  EXPECT_EQ(TroubleOf(Losses({2, 1, 0.5})), "");
  EXPECT_EQ(
      TroubleOf(Losses({2, 2, 2, 2, 2, 2.06})),
      "the loss does not fall: it was 2 after step 0 and is 2.02 on average of the last three; "
      "another learning rate may help");
  EXPECT_EQ(TroubleOf(Losses({2, 1, 4})),
            "the loss rises: it was 2 after step 0 and is 4 after step 19; a smaller learning rate "
            "may help");
  EXPECT_EQ(TroubleOf(Losses({2, std::nan("")})),
            "training has diverged: the loss after step 9 is no number; begin another run with a "
            "smaller learning rate");
}

TEST(TrendTest, EveryTrendHasAName) {
  EXPECT_STREQ(TrendName(Trend::kFine), "fine");
  EXPECT_STREQ(TrendName(Trend::kFlat), "flat");
  EXPECT_STREQ(TrendName(Trend::kRising), "rising");
  EXPECT_STREQ(TrendName(Trend::kDiverged), "diverged");
}

}  // namespace
}  // namespace ostraka::host::trend_test
