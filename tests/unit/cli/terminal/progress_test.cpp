#include "node/cli/terminal/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cmath>

namespace ostraka::cli::progress_test {
namespace {

TEST(ProgressTest, SaysHowFarHowFastAndHowLong) {
  Progress progress(300);
  EXPECT_EQ(progress.Line(5, 0), "");
  progress.Done(59, 100);
  EXPECT_EQ(progress.Line(5, 0), "step 60 of 300, 5 members");
  progress.Done(60, 100.1);
  progress.Evaluated(EvaluationText("loss", 0.1406, 0.1406));
  EXPECT_EQ(progress.Line(5, 2),
            "step 61 of 300, 2 cases, loss 0.1406, 24 s left, 100 ms a step, 5 members");
}

TEST(ProgressTest, TheOwnBatchStandsForAnEvaluationThatHasNotCome) {
  Progress progress(300);
  progress.Done(59, 100);
  progress.Batch(2.25);
  EXPECT_EQ(progress.Line(5, 0), "step 60 of 300, own batch's loss 2.2500, 5 members");
  progress.Evaluated(EvaluationText("loss", 0.1406, 0.1406));
  EXPECT_EQ(progress.Line(5, 0), "step 60 of 300, loss 0.1406, own batch's loss 2.2500, 5 members");
}

TEST(ProgressTest, ThePaceFollowsSlowly) {
  Progress progress(1000);
  double now = 0;
  progress.Done(0, now);
  for (std::uint64_t step = 1; step <= 100; ++step) progress.Done(step, now += 1);
  progress.Done(101, now += 11);  // one slow step
  EXPECT_NE(progress.Line(3, 1).find(" left, 2.0 s a step"), std::string::npos)
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
            "step 3, beyond the 2 planned, 0 ms left, 1.0 s a step, 3 members");
}

TEST(EvaluationTextTest, TheLossComesFirst) {
  EXPECT_EQ(EvaluationText("accuracy", 0.912, 0.3), "loss 0.3000, accuracy 0.9120");
  EXPECT_EQ(EvaluationText("loss", std::nan(""), std::nan("")), "loss no number");
}

TEST(SampleTextTest, IsOneSafeLine) {
  EXPECT_EQ(SampleText("ROMEO:\nbut", "\tsoft \x1b[31m\xff"), "\"ROMEO: but\" -> \" soft ?[31m?\"");
}

TEST(FitToScreenTest, LeavesOutWholePartsFromTheEnd) {
  const std::string line = "step 60 of 300, loss 0.1406, 24 s left";
  ASSERT_EQ(line.size(), 38u);
  EXPECT_EQ(FitToScreen(line, 39), line);
  EXPECT_EQ(FitToScreen(line, 38), "step 60 of 300, loss 0.1406") << "the last column stays free";
  EXPECT_EQ(FitToScreen(line, 20), "step 60 of 300");
  EXPECT_EQ(FitToScreen(line, 5), "step");
  EXPECT_EQ(FitToScreen(line, 1), "");
  EXPECT_EQ(FitToScreen(line, 0), line) << "a terminal that does not say";
}

TEST(ScreenColumnsTest, AreThoseOfATerminal) {
  int own = -1;
  int terminal = -1;
  const winsize size{.ws_row = 24, .ws_col = 61, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&own, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_EQ(ScreenColumns(terminal), 61u);
  close(own);
  close(terminal);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(ScreenColumns(ends[0]), 0u);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace ostraka::cli::progress_test
