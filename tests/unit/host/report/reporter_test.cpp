#include "node/host/report/reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::reporter_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr base::Time kNow{1'000};

class ReporterTest : public ::testing::Test {
 protected:
  void See(const protocol::Observation& what) { reporter_.See(kNow, what); }

  Log log_;
  Reporter reporter_{log_, base::Time{}};
};

TEST_F(ReporterTest, EveryObservationHasItsEventOrItsLineAndReachesTheStatus) {
  See(protocol::StepStarted{.step = 4, .batches = {}, .state = {}, .roles = {}});
  See(protocol::SlowSeal{4, 1, 2, "waits for b2"});
  See(protocol::Suspicion{4, {}, "V1", "false numbers"});
  See(DoneWith(4, 1));
  See(protocol::StepTimes{4, 10, 20, 30});
  See(protocol::StepTimes{5, 1, 2, 3});
  EXPECT_THAT(log_.notices, ElementsAre("step 4: waits for b2"));
  EXPECT_THAT(log_.suspicions, ElementsAre("false numbers"));
  EXPECT_THAT(log_.steps, ElementsAre(4));
  EXPECT_THAT(log_.times, ElementsAre(4, 5));
  EXPECT_EQ(reporter_.step(), 4u);
  EXPECT_TRUE(reporter_.met());
  EXPECT_EQ(reporter_.StatusAt(kNow).steps_done, 1u);
  EXPECT_EQ(reporter_.history().spans().size(), 1u);
  EXPECT_EQ(reporter_.report().steps_done, 5u) << "the last is step 4";
  EXPECT_EQ(reporter_.report().timed_steps, 2u);
  EXPECT_EQ(reporter_.report().step_times.agree_ns, 33);
}

TEST_F(ReporterTest, AWaitIsAnEventEachTimeAndALineAtFirstAndAtItsEnd) {
  NodeStatus status = reporter_.StatusAt(kNow);
  status.met = true;
  status.others = {base::PeerId{}};
  status.progress = {.step = 7, .phase = "collect", .missing = {{base::PeerId{}, "commit"}}};
  for (const int seconds : {1, 4, 5, 6, 0}) {
    status.since_progress = base::Seconds(seconds);
    reporter_.Look(status);
  }
  EXPECT_THAT(log_.waits, SizeIs(3));
  EXPECT_THAT(log_.notices,
              ElementsAre(HasSubstr("step 7: waiting 5 s for 0000"), "step 7: the run goes on"));
}

TEST_F(ReporterTest, ThatTheRunGoesOnIsSaidBeforeWhatComesAfter) {
  NodeStatus status = reporter_.StatusAt(kNow);
  status.met = true;
  status.others = {base::PeerId{}};
  status.progress = {.step = 7, .phase = "collect", .missing = {{base::PeerId{}, "commit"}}};
  status.since_progress = base::Seconds(5);
  reporter_.Look(status);
  See(DoneWith(7, 1));
  EXPECT_THAT(log_.notices, ElementsAre(HasSubstr("waiting 5 s"), "step 7: the run goes on"));
  status.since_progress = {};
  reporter_.Look(status);
  EXPECT_THAT(log_.notices, SizeIs(2)) << "once";
}

TEST_F(ReporterTest, ThatTooFewCanBeDialedIsSaidAgainWhenMoreThanItsNumbersChanges) {
  const auto head = [](std::uint8_t members, std::uint8_t dialers) {
    wire::Block block;
    block.thresholds = protocol::ThresholdsFor(protocol::Mode::kMajority, members, 1);
    for (std::uint8_t n = 1; n <= members; ++n) {
      base::PeerId id;
      id.bytes.fill(n);
      block.members.push_back(id);
      if (n <= dialers) block.reach.push_back({id, true, 0});
    }
    return block;
  };
  reporter_.Reach(head(8, 2));
  reporter_.Reach(head(9, 3));
  EXPECT_THAT(log_.notices, ElementsAre(HasSubstr("only 6 of 8 members can be dialed")));
  reporter_.Reach(head(9, 6));
  EXPECT_THAT(log_.notices, SizeIs(2)) << "colluders may own all columns";
  reporter_.Reach(head(9, 0));
  reporter_.Reach(head(9, 3));
  EXPECT_THAT(log_.notices, SizeIs(3)) << "it was well in between";
}

TEST_F(ReporterTest, ABlockOrAChangeOfPlaceIsProgressOnce) {
  EXPECT_FALSE(reporter_.HasProgress());
  See(DoneWith(4, 1));
  ASSERT_TRUE(reporter_.HasProgress());
  reporter_.Progress(reporter_.BriefAt(kNow));
  EXPECT_FALSE(reporter_.HasProgress());
  EXPECT_THAT(log_.progress, SizeIs(1));
  See(protocol::Away{5, "its REVEAL came too late"});
  EXPECT_TRUE(reporter_.HasProgress());
  EXPECT_EQ(reporter_.BriefAt(kNow).away, "its REVEAL came too late");
}

TEST_F(ReporterTest, ARestoredRunIsReportedThoughItHasNoEvent) {
  const protocol::StepDone last = DoneWith(8, 2);
  See(protocol::Resumed{last.block, last.state});
  EXPECT_EQ(reporter_.report().steps_done, 9u);
  EXPECT_EQ(reporter_.report().last_block, last.block);
  EXPECT_EQ(reporter_.report().state.parameters, last.state.parameters);
  EXPECT_THAT(log_.steps, IsEmpty());
}

TEST_F(ReporterTest, AHistoryThatCouldNotBeReadIsALineInTheLog) {
  RunHistory history;
  history.RecallFailed("it is damaged");
  Reporter reporter(log_, base::Time{}, std::move(history));
  reporter.Started(1, 2, 3);
  EXPECT_THAT(log_.notices, ElementsAre(HasSubstr("cannot be read: it is damaged")));
}

TEST_F(ReporterTest, StepsThatAFollowerSkippedCountAsDone) {
  const protocol::StepDone last = DoneWith(8, 2);
  See(protocol::Resumed{last.block, last.state});
  See(DoneWith(20, 1));
  EXPECT_EQ(reporter_.report().steps_done, 21u);
}

TEST_F(ReporterTest, TheReportHasTheRemovalsOfTheBlocks) {
  See(DoneWith(4, 1, {{{}, wire::RemovalKind::kVerdict, 4, {.old_text = "it lied"}}}));
  ASSERT_THAT(reporter_.Report().removals, SizeIs(1));
  EXPECT_EQ(wire::TextOf(reporter_.Report().removals[0].reason), "it lied");
  EXPECT_EQ(reporter_.Report().steps_done, 5u);
}

TEST_F(ReporterTest, TheStatusSaysWhoIsAMemberAgain) {
  See(DoneWith(4, 1, {{{}, wire::RemovalKind::kDrop, 4, {.old_text = "silent"}}}));
  EXPECT_EQ(reporter_.StatusAt(kNow).removals.at(0).returned, std::nullopt);
  protocol::StepDone back = DoneWith(5, 1);
  wire::Block block = *back.block;
  block.joined = {base::PeerId{}};
  back.block = std::make_shared<const wire::Block>(block);
  See(back);
  EXPECT_EQ(reporter_.StatusAt(kNow).removals.at(0).returned, 5u);
}

TEST_F(ReporterTest, AnEvaluationIsAnEventAndItsFailureANotice) {
  reporter_.Evaluated(3, train::Evaluation{"accuracy", 0.5, 1});
  reporter_.Evaluated(4, base::Internal("no data"));
  EXPECT_THAT(log_.evaluated, ElementsAre(3));
  EXPECT_EQ(reporter_.report().evaluated_step, 3u);
  EXPECT_DOUBLE_EQ(reporter_.report().evaluation->value, 0.5);
  EXPECT_DOUBLE_EQ(reporter_.StatusAt(kNow).learning.evaluation->value, 0.5);
  EXPECT_EQ(reporter_.history().curve().Points().size(), 1u);
  EXPECT_THAT(log_.notices, ElementsAre("the state after step 4 could not be evaluated: no data"));
}

TEST_F(ReporterTest, AdviceIsALineWhenItBegins) {
  reporter_.Advise("");
  reporter_.Advise("open port 7");
  reporter_.Advise("open port 7, says another");
  EXPECT_THAT(log_.notices, ElementsAre("open port 7"));
  reporter_.Advise("");
  reporter_.Advise("open port 7");
  EXPECT_THAT(log_.notices, SizeIs(2));
}

TEST_F(ReporterTest, TheLossOfTheOwnBatchIsAnEventAndInTheStatus) {
  EXPECT_FALSE(reporter_.StatusAt(kNow).learning.batch_loss.has_value());
  reporter_.BatchLoss(3, 0.5);
  EXPECT_THAT(log_.batches, ElementsAre(std::pair(std::uint64_t{3}, 0.5)));
  EXPECT_DOUBLE_EQ(*reporter_.StatusAt(kNow).learning.batch_loss, 0.5);
  EXPECT_EQ(reporter_.StatusAt(kNow).learning.batch_step, 3u);
}

TEST_F(ReporterTest, TrainingThatGoesBadlyIsInTheStatusAndTheReport) {
  reporter_.Evaluated(0, train::Evaluation{"accuracy", 0.1, 2});
  EXPECT_EQ(reporter_.StatusAt(kNow).learning.trend, Trend::kFine);
  EXPECT_EQ(reporter_.Report().trouble, "");
  reporter_.Evaluated(9, train::Evaluation{"accuracy", 0.1, std::nan("")});
  EXPECT_EQ(reporter_.StatusAt(kNow).learning.trend, Trend::kDiverged);
  EXPECT_THAT(reporter_.StatusAt(kNow).learning.trouble, HasSubstr("no number"));
  EXPECT_EQ(reporter_.Report().trend, Trend::kDiverged);
  EXPECT_EQ(reporter_.Report().trouble, reporter_.StatusAt(kNow).learning.trouble);
}

TEST_F(ReporterTest, TheEndIsToldOnceAndLinksThatGoWithItAreNoNews) {
  reporter_.Started(7, 8, 3);
  reporter_.Links(1, 3);
  reporter_.Removed({{}, wire::RemovalKind::kVerdict, 3, {.old_text = "it lied"}});
  reporter_.Halted({NodeEnd::kFinished, 3, "done"});
  reporter_.Halted({NodeEnd::kFailed, 3, "a library failed"});
  reporter_.Links(0, 3);
  EXPECT_EQ(log_.started_port, 7u);
  EXPECT_EQ(log_.started_http_port, 8u);
  EXPECT_THAT(log_.halted, ElementsAre("done"));
  EXPECT_THAT(log_.links, ElementsAre(std::pair(0u, 3u), std::pair(1u, 3u)));
  EXPECT_THAT(log_.removed, SizeIs(1));
  EXPECT_DEATH(See(DoneWith(4, 1)), "CHECK failed");
}

}  // namespace
}  // namespace ostraka::host::reporter_test
