#include "node/protocol/ground/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ostraka::protocol::schedule_test {
namespace {

TrainingPlan Plan(std::uint64_t steps, std::uint64_t settle, std::uint64_t warmup) {
  TrainingPlan plan;
  plan.steps = steps;
  plan.settle_steps = settle;
  plan.warmup_steps = warmup;
  plan.learning_rate = 0.5;
  plan.momentum = 0.25;
  plan.weight_decay = 0.125;
  return plan;
}

TEST(SgdOfTest, WarmsUpThenDecaysToExactlyZero) {
  const TrainingPlan plan = Plan(20, 5, 4);
  const double expected[] = {0.125, 0.25, 0.375, 0.5};
  for (std::uint64_t step = 0; step < 4; ++step) {
    EXPECT_FLOAT_EQ(SgdOf(plan, step).rate, static_cast<float>(expected[step]));
  }
  for (std::uint64_t step = 4; step < 15; ++step) {
    EXPECT_FLOAT_EQ(SgdOf(plan, step).rate,
                    static_cast<float>(0.5 * static_cast<double>(15 - step) / 11));
    EXPECT_GT(SgdOf(plan, step).rate, 0);
  }
  // To the end of the run and beyond it: extra steps after a ban move nothing.
  for (std::uint64_t step = 15; step < 200; ++step) EXPECT_EQ(SgdOf(plan, step).rate, 0) << step;
}

TEST(SgdOfTest, StartsAtThePeakWithoutWarmUp) { EXPECT_EQ(SgdOf(Plan(20, 5, 0), 0).rate, 0.5F); }

TEST(SgdOfTest, AWarmUpLongerThanTheRunStillEndsAtZero) {
  const TrainingPlan plan = Plan(10, 4, 100);
  EXPECT_FLOAT_EQ(SgdOf(plan, 5).rate, 0.03F);
  EXPECT_EQ(SgdOf(plan, 6).rate, 0);
}

TEST(SgdOfTest, MomentumAndDecayAreThePlans) {
  EXPECT_EQ(SgdOf(Plan(20, 5, 0), 3).momentum, 0.25F);
  EXPECT_EQ(SgdOf(Plan(20, 5, 0), 3).decay, 0.125F);
}

TEST(RateOfTest, EachScheduleBeginsAtThePeakAndEndsAtZero) {
  for (const Schedule schedule : kAllSchedules) {
    TrainingPlan plan = Plan(25, 5, 4);
    plan.schedule = schedule;
    plan.decay_steps = schedule == Schedule::kWsd ? 6 : 0;
    EXPECT_EQ(RateOf(plan, 0), 0.125) << ScheduleName(schedule);
    EXPECT_EQ(RateOf(plan, 4), 0.5) << ScheduleName(schedule);
    for (std::uint64_t step = 5; step < 20; ++step) {
      EXPECT_LE(RateOf(plan, step), RateOf(plan, step - 1));
      EXPECT_GT(RateOf(plan, step), 0);
    }
    for (std::uint64_t step = 20; step < 100; ++step) EXPECT_EQ(RateOf(plan, step), 0);
    EXPECT_EQ(FindSchedule(ScheduleName(schedule)), schedule);
  }
  EXPECT_FALSE(FindSchedule("step"));
}

TEST(RateOfTest, ConstantStaysCosineHalvesAndWsdFallsInItsLastSteps) {
  TrainingPlan plan = Plan(25, 5, 4);
  plan.schedule = Schedule::kConstant;
  EXPECT_EQ(RateOf(plan, 19), 0.5);
  plan.schedule = Schedule::kCosine;
  EXPECT_DOUBLE_EQ(RateOf(plan, 12), 0.25);
  EXPECT_DOUBLE_EQ(RateOf(plan, 8), 0.5 * (1 + std::sqrt(0.5)) / 2);
  plan.schedule = Schedule::kWsd;
  plan.decay_steps = 4;
  EXPECT_EQ(RateOf(plan, 16), 0.5);
  EXPECT_EQ(RateOf(plan, 17), 0.375);
  EXPECT_EQ(RateOf(plan, 19), 0.125);
}

TEST(OptimizerStepOfTest, CountsTheUpdatesOfARunBefore) {
  TrainingPlan plan = Plan(25, 5, 4);
  plan.optimizer = aggregation::Optimizer::kAdamW;
  plan.clip_norm = 2;
  EXPECT_EQ(OptimizerStepOf(plan, 0).updates, 1u);
  plan.earlier_updates = 40;
  const aggregation::OptimizerStep step = OptimizerStepOf(plan, 3);
  EXPECT_EQ(step.updates, 44u);
  EXPECT_EQ(step.optimizer, aggregation::Optimizer::kAdamW);
  EXPECT_EQ(step.rate, 0.5F);
  EXPECT_EQ(step.clip_norm, 2);
}

TEST(LocalStepsOfTest, TakeTheScheduleAndTheUpdateStaysAtItsRate) {
  TrainingPlan plan = Plan(20, 5, 4);
  EXPECT_EQ(LocalStepsOf(plan, 3), aggregation::LocalSteps{}) << "there are none";
  plan.inner = {.steps = 8, .learning_rate = 0.01, .warmup_steps = 2};
  for (std::uint64_t step = 0; step < 15; ++step) {
    TrainingPlan as_before = plan;
    as_before.inner.steps = 1;
    as_before.learning_rate = plan.inner.learning_rate;
    const aggregation::LocalSteps local = LocalStepsOf(plan, step);
    EXPECT_EQ(local.rate, RateOf(as_before, step)) << step;
    EXPECT_EQ(local.count, 8u);
    EXPECT_EQ(RateOf(plan, step), 0.5);
  }
  for (std::uint64_t step = 15; step < 40; ++step) {
    EXPECT_EQ(LocalStepsOf(plan, step).rate, 0) << step;
    EXPECT_EQ(RateOf(plan, step), 0) << step;
  }
}

TEST(UpdateTextTest, NamesLocalSteps) {
  TrainingPlan plan;
  plan.inner.steps = 16;
  EXPECT_EQ(UpdateText(plan), "16 local steps of adamw, learning rate 0.006, then learning rate 1");
  plan.batches = plan.most_batches = 3;
  EXPECT_TRUE(UpdateText(plan).starts_with("3 batches a gradient, 16 local steps"));
  plan.most_batches = 5;
  EXPECT_TRUE(UpdateText(plan).starts_with("3 to 5 batches a gradient, 16 local steps"));
}

TEST(UpdateTextTest, NamesWhatIsNotTheCommonCase) {
  TrainingPlan plan;
  plan.learning_rate = 1e-5;
  EXPECT_EQ(UpdateText(plan), "learning rate 1e-05");
  plan.momentum = 0.9;
  EXPECT_EQ(UpdateText(plan), "learning rate 1e-05, momentum 0.9");
  plan.momentum = 0;
  plan.optimizer = aggregation::Optimizer::kAdamW;
  plan.schedule = Schedule::kCosine;
  plan.clip_norm = 1;
  EXPECT_EQ(UpdateText(plan), "adamw, learning rate 1e-05, cosine, clipped at 1");
}

TEST(IsLastToTrainTest, WaitsForStepsCasesAndTheLastRemoval) {
  TrainingPlan plan = Plan(20, 5, 0);
  plan.steps_after_ban = 10;
  struct Row {
    std::uint64_t step;
    std::optional<std::uint64_t> last_removal;
    bool case_open;
    bool ends;
  };
  for (const Row& row : {Row{18, {}, false, false},  // a step is left
                         Row{19, {}, false, true},   // the last of `steps`
                         Row{19, {}, true, false},   // a case is open
                         Row{25, {}, true, false},   //
                         Row{25, {}, false, true},   // beyond the last
                         Row{19, 9, false, true},    // ten steps after the ban
                         Row{19, 10, false, false},  // nine steps after
                         Row{20, 10, false, true},   //
                         Row{18, 0, false, false},   // steps count too
                         Row{29, 19, true, false}}) {
    EXPECT_EQ(IsLastToTrain(plan, row.step, row.last_removal, row.case_open), row.ends)
        << row.step << " " << row.last_removal.value_or(999) << " " << row.case_open;
  }
}

TEST(ClosingAfterTest, ClosingStepsEndTheRunWhateverTheyFind) {
  const TrainingPlan plan = Plan(20, 5, 0);
  wire::Block head;
  wire::Block block;
  block.step = 18;
  EXPECT_EQ(ClosingAfter(head, plan, block), 0);
  block.step = 19;
  EXPECT_EQ(ClosingAfter(head, plan, block), 1);
  head.closing = 1;
  EXPECT_FALSE(wire::RunIsOver(head));
  block.step = 20;
  block.cases.emplace_back();
  block.last_removal_step = 20;
  block.closing = ClosingAfter(head, plan, block);
  EXPECT_EQ(block.closing, 2);
  EXPECT_FALSE(wire::RunIsOver(block)) << "no state is sealed";
  block.state_root.emplace();
  EXPECT_TRUE(wire::RunIsOver(block));
}

TEST(ClosingAfterTest, RunWhoseStateNobodySealsEndsAllTheSame) {
  const TrainingPlan plan = Plan(20, 5, 0);
  wire::Block head;
  head.step = 19;
  head.closing = 1;
  while (!wire::RunIsOver(head)) {
    EXPECT_EQ(wire::TrainedSteps(head), 20U);
    wire::Block next;
    next.step = head.step + 1;
    next.closing = ClosingAfter(head, plan, next);
    head = next;
  }
  EXPECT_EQ(head.step, 19U + wire::kClosingSteps);
  EXPECT_EQ(wire::TrainedSteps(head), 20U);
}

}  // namespace
}  // namespace ostraka::protocol::schedule_test
