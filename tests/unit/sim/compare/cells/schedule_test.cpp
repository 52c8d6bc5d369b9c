#include "sim/compare/cells/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/protocol/ground/schedule.h"

namespace ostraka::compare::schedule_test {
namespace {

using testing::HasSubstr;

Cell With(const std::string& schedule) {
  Cell cell;
  cell.schedule = schedule;
  cell.learning_rate = 1;
  cell.steps = 100;
  return cell;
}

TEST(Schedule, LinearIsTheProtocolsOwn) {
  Cell cell = With("linear");
  cell.warmup_steps = 10;
  cell.momentum = 0.9;
  cell.weight_decay = 0.01;
  for (const std::uint64_t step : {0, 5, 10, 50, 94, 95, 99}) {
    const auto ours = SgdOf(cell, step);
    const auto theirs = protocol::SgdOf(PlanOf(cell), step);
    EXPECT_EQ(ours.rate, theirs.rate);
    EXPECT_EQ(ours.momentum, theirs.momentum);
    EXPECT_EQ(ours.decay, theirs.decay);
  }
  EXPECT_EQ(SgdOf(cell, 95).rate, 0);
}

TEST(Schedule, Formulas) {
  EXPECT_EQ(SgdOf(With("constant"), 99).rate, 1);
  EXPECT_FLOAT_EQ(SgdOf(With("cosine"), 0).rate, 1);
  EXPECT_FLOAT_EQ(SgdOf(With("cosine"), 50).rate, 0.5);
  EXPECT_NEAR(SgdOf(With("cosine"), 100).rate, 0, 1e-7);
  const Cell steps = With("step:every=10,factor=0.5");
  EXPECT_FLOAT_EQ(SgdOf(steps, 9).rate, 1);
  EXPECT_FLOAT_EQ(SgdOf(steps, 10).rate, 0.5);
  EXPECT_FLOAT_EQ(SgdOf(steps, 39).rate, 0.125);
}

TEST(Schedule, WarmUpRisesToTheRate) {
  Cell cell = With("constant");
  cell.warmup_steps = 4;
  EXPECT_FLOAT_EQ(SgdOf(cell, 0).rate, 0.25);
  EXPECT_FLOAT_EQ(SgdOf(cell, 3).rate, 1);
  EXPECT_FLOAT_EQ(SgdOf(cell, 4).rate, 1);
}

TEST(Schedule, ErrorsNameTheProblem) {
  EXPECT_THAT(base::MessageOf(CheckSchedule("cosin")), HasSubstr("did you mean 'cosine'?"));
  EXPECT_THAT(base::MessageOf(CheckSchedule("step")), HasSubstr("every"));
  EXPECT_THAT(base::MessageOf(CheckSchedule("step:every=10,factor=2")), HasSubstr("factor"));
  EXPECT_THAT(base::MessageOf(CheckSchedule("linear:x=1")), HasSubstr("x"));
}

}  // namespace
}  // namespace ostraka::compare::schedule_test
