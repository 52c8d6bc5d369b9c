#include "node/cli/terminal/progress.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ostraka::cli {
namespace {

TEST(ProgressTest, SaysHowFarHowFastAndHowLong) {
  Progress progress(300);
  EXPECT_EQ(progress.Line(5, 0), "");
  progress.Done(59, 100);
  EXPECT_EQ(progress.Line(5, 0), "step 60 of 300, 5 members");
  progress.Done(60, 100.1);
  progress.Evaluated(EvaluationText("loss", 0.1406, 0.1406));
  EXPECT_EQ(progress.Line(5, 2),
            "step 61 of 300, 5 members, 2 cases, 100 ms a step, 24 s left, loss 0.1406");
}

TEST(ProgressTest, ThePaceFollowsSlowly) {
  Progress progress(1000);
  double now = 0;
  progress.Done(0, now);
  for (std::uint64_t step = 1; step <= 100; ++step) progress.Done(step, now += 1);
  progress.Done(101, now += 11);  // one slow step
  EXPECT_NE(progress.Line(3, 1).find("1 case, 2.0 s a step"), std::string::npos)
      << progress.Line(3, 1);
}

TEST(ProgressTest, StepsThatWereCaughtUpOnAtOnceAreNoPace) {
  Progress progress(1000);
  progress.Done(3, 0);
  progress.Done(400, 1);
  EXPECT_EQ(progress.Line(3, 0), "step 401 of 1000, 3 members");
}

TEST(ProgressTest, ARunThatGoesOnAfterItsPlanHasNoTimeLeft) {
  Progress progress(2);
  progress.Done(1, 0);
  progress.Done(2, 1);
  EXPECT_EQ(progress.Line(3, 0),
            "step 3, beyond the 2 planned, 3 members, 1.0 s a step, 0 ms left");
}

TEST(EvaluationTextTest, TheLossComesFirst) {
  EXPECT_EQ(EvaluationText("accuracy", 0.912, 0.3), "loss 0.3000, accuracy 0.9120");
  EXPECT_EQ(EvaluationText("loss", std::nan(""), std::nan("")), "loss no number");
}

}  // namespace
}  // namespace ostraka::cli
