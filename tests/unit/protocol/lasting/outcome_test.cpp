#include "node/protocol/lasting/outcome.h"

#include <gtest/gtest.h>

namespace ostraka::protocol::outcome_test {
namespace {

TEST(OutcomeTest, NothingHappensUnlessItIsSaid) {
  EXPECT_EQ(Outcome{}.what, Outcome::What::kWait);
  EXPECT_EQ(Outcome::Wait().what, Outcome::What::kWait);
  EXPECT_EQ(Outcome::GoOn().what, Outcome::What::kGoOn);
  EXPECT_EQ(Outcome::BeginStep().what, Outcome::What::kBeginStep);
  EXPECT_EQ(Outcome::Finish().what, Outcome::What::kFinish);
}

TEST(OutcomeTest, MemberThatLeavesTrustsItsStateUnlessItIsSaid) {
  EXPECT_EQ(Outcome::Leave("why").what, Outcome::What::kLeave);
  EXPECT_EQ(Outcome::Leave("why").reason, "why");
  EXPECT_TRUE(Outcome::Leave("why").trust_state);
  EXPECT_FALSE(Outcome::Leave("why", false).trust_state);
}

TEST(OutcomeTest, FailedJobHaltsAndNamesItsStep) {
  const Outcome outcome = Outcome::FailedJob(12, "memory ran out");
  EXPECT_EQ(outcome.what, Outcome::What::kHalt);
  EXPECT_EQ(outcome.why, Halted::Why::kFailed);
  EXPECT_EQ(outcome.reason, "step 12: memory ran out");
  EXPECT_EQ(Outcome::Halt(Halted::Why::kBanned, "x").why, Halted::Why::kBanned);
}

}  // namespace
}  // namespace ostraka::protocol::outcome_test
