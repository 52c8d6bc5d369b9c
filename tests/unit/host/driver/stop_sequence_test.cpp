#include "node/host/driver/stop_sequence.h"

#include <gtest/gtest.h>

namespace ostraka::host::stop_sequence_test {
namespace {

using Phase = StopSequence::Phase;

NodeOutcome Outcome(NodeEnd end, const std::string& reason = "why") { return {end, 3, reason}; }

TEST(StopSequenceTest, AFinishedRunWaitsForItsStoresItsMessagesAndItsEvaluation) {
  StopSequence stop;
  EXPECT_TRUE(stop.TakesInputs());
  EXPECT_FALSE(stop.MayFlush(false)) << "it runs";
  stop.Halt(Outcome(NodeEnd::kFinished));
  EXPECT_TRUE(stop.EndedNormally());
  EXPECT_FALSE(stop.MayFlush(true)) << "its last messages may rest on a Store";
  EXPECT_TRUE(stop.MayFlush(false));
  EXPECT_FALSE(stop.Ending());
  stop.BeginFlush();
  EXPECT_FALSE(stop.TakesInputs());
  EXPECT_FALSE(stop.MayClose(false)) << "not flushed";
  stop.Flushed();
  EXPECT_FALSE(stop.MayClose(true));
  EXPECT_TRUE(stop.MayClose(false));
  stop.BeginClose();
  EXPECT_FALSE(stop.MayClose(false)) << "once";
  stop.End();
  EXPECT_EQ(stop.phase(), Phase::kEnded);
}

TEST(StopSequenceTest, AFailedRunWaitsForNoStore) {
  StopSequence stop;
  stop.Halt(Outcome(NodeEnd::kFailed));
  EXPECT_FALSE(stop.EndedNormally());
  EXPECT_TRUE(stop.MayFlush(true));
}

TEST(StopSequenceTest, TheFirstOutcomeCountsExceptForInterruptsAndExceptions) {
  StopSequence stop;
  stop.Halt(Outcome(NodeEnd::kFinished, "first"));
  stop.Halt(Outcome(NodeEnd::kFailed, "second"));
  EXPECT_EQ(stop.outcome().reason, "first");
  stop.Interrupt(Outcome(NodeEnd::kInterrupted, "third"));
  EXPECT_EQ(stop.outcome().reason, "third");
  stop.BeginFlush();
  stop.Break(Outcome(NodeEnd::kFailed, "fourth"));
  EXPECT_EQ(stop.outcome().reason, "fourth");
  EXPECT_EQ(stop.phase(), Phase::kClosing);
}

TEST(StopSequenceTest, AnInterruptedRunWaitsForNoEvaluation) {
  StopSequence stop;
  stop.Interrupt(Outcome(NodeEnd::kInterrupted));
  stop.BeginFlush();
  stop.Flushed();
  EXPECT_TRUE(stop.MayClose(true));
}

TEST(StopSequenceTest, PhasesOutsideOfTheTableAreABug) {
  EXPECT_DEATH(StopSequence().BeginFlush(), "CHECK failed");
  EXPECT_DEATH(StopSequence().Flushed(), "CHECK failed");
  EXPECT_DEATH(StopSequence().End(), "CHECK failed");
  EXPECT_DEATH(static_cast<void>(StopSequence().outcome()), "CHECK failed");
  StopSequence stop;
  stop.Break(Outcome(NodeEnd::kFailed));
  EXPECT_DEATH(stop.Break(Outcome(NodeEnd::kFailed)), "CHECK failed");
  EXPECT_DEATH(stop.Interrupt(Outcome(NodeEnd::kInterrupted)), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::host::stop_sequence_test
