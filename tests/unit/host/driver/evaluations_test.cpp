#include "node/host/driver/evaluations.h"

#include <gtest/gtest.h>

namespace ostraka::host::evaluations_test {
namespace {

TEST(EvaluationsTest, TheFirstStepAndEveryFewStepsAreDue) {
  const Evaluations every(3);
  EXPECT_TRUE(every.Due(0));
  EXPECT_FALSE(every.Due(1));
  EXPECT_TRUE(every.Due(2));
  EXPECT_FALSE(every.Due(3));
  EXPECT_TRUE(every.Due(5));
  EXPECT_FALSE(Evaluations(0).Due(0)) << "only the last state";
  EXPECT_FALSE(Evaluations(0).Due(1)) << "only the last state";
}

TEST(EvaluationsTest, TheResultOfTheLastStateIsAwaited) {
  Evaluations evaluations(1);
  EXPECT_FALSE(evaluations.Awaited());
  evaluations.Send(4);
  evaluations.Send(5);
  EXPECT_TRUE(evaluations.Sent(5));
  EXPECT_FALSE(evaluations.Sent(4));
  evaluations.RecordResult(4);
  EXPECT_TRUE(evaluations.Awaited());
  evaluations.RecordResult(5);
  EXPECT_FALSE(evaluations.Awaited());
}

TEST(EvaluationsTest, AMemberThatFollowsMayTakeAStateOfAnEarlierStep) {
  Evaluations evaluations(1);
  evaluations.Send(9);
  evaluations.Send(4);
  evaluations.RecordResult(9);
  EXPECT_TRUE(evaluations.Awaited());
  evaluations.RecordResult(4);
  EXPECT_FALSE(evaluations.Awaited());
}

TEST(EvaluationsTest, AResultThatNobodyAskedForIsABug) {
  EXPECT_DEATH(Evaluations(1).RecordResult(0), "CHECK failed");
  Evaluations evaluations(1);
  evaluations.Send(4);
  EXPECT_DEATH(evaluations.RecordResult(5), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::host::evaluations_test
