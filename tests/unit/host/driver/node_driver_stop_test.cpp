// How a driver is stopped without harm: with the block of the step in progress, if the machine has
// signed its COMMIT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <utility>

#include "node/host/driver/node_driver.h"
#include "node/wire/codec.h"
#include "tests/unit/host/driver/node_driver_fixture.h"

namespace ostraka::host::node_driver_stop_test {
namespace {

using protocol::Input;
using protocol::Outbox;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kStep = 11;
constexpr protocol::TimerId kTick = 1;

protocol::Record RecordOf(std::uint64_t step, wire::MessageType type) {
  wire::Envelope envelope;
  envelope.slot.step = step;
  envelope.slot.phase = type == wire::MessageType::kReveal ? wire::Phase::kB : wire::Phase::kA;
  envelope.slot.type = type;
  return {protocol::RecordKind::kSlot, protocol::SlotKey(envelope.slot),
          *wire::EncodeUnsigned(envelope)};
}

// A member that works on step 11. It signs its COMMIT at the first tick of its timer, and the test
// says what happens at the others.
class NodeDriverStopTest : public NodeDriverTest {
 protected:
  void SetUp() override {
    NodeDriverTest::SetUp();
    now_.step = kStep;
    now_.at_work = true;
    now_.phase = "collect";
    a_.options.waits = [](const wire::Block&) {
      return StepWaits{.parts = base::Seconds(20),
                       .messages = base::Seconds(42),
                       .coins = base::Seconds(3),
                       .step = base::Seconds(149)};
    };
    a_.progress = [this] { return now_; };
    a_.step = [this](base::Time now, const Input& input, Outbox& out) {
      if (std::holds_alternative<protocol::Started>(input)) {
        Tell(out, Done(kStep - 1));
        out.Add(protocol::SetTimer{kTick, now});
      } else if (const auto* stored = std::get_if<protocol::Stored>(&input)) {
        stored_.push_back(stored->id);
        if (on_commit) on_commit();
      } else if (std::holds_alternative<protocol::TimerFired>(input)) {
        ++ticks_;
        out.Add(protocol::SetTimer{kTick, now + base::Milliseconds(1)});
        if (ticks_ == 1 && commits_) {
          out.Add(protocol::Store{10, {RecordOf(kStep, wire::MessageType::kCommit)}});
        }
        if (on_tick) on_tick(ticks_, out);
      }
    };
  }
  protocol::StepDone Done(std::uint64_t step) const {
    protocol::StepDone done = DoneWith(step, 1);
    wire::Block block = *done.block;
    block.members = {a_.id()};
    if (leaves_) block.leaving = {a_.id()};
    block.thresholds = {.n = 1, .t_s = 1, .t_a = 0};
    done.block = std::make_shared<const wire::Block>(block);
    return done;
  }
  // The block of the step, with which the machine goes on to the next step and its COMMIT.
  void EndStep(Outbox& out) {
    const std::uint64_t done = now_.step++;
    out.Add(protocol::Store{static_cast<protocol::StoreId>(20 + done - kStep),
                            {RecordOf(now_.step, wire::MessageType::kCommit)}});
    Tell(out, Done(done));
  }
  // Not within a call of the machine.
  void Order(void (NodeDriver::*way)(const std::string&), const std::string& by = "SIGTERM") {
    boost::asio::post(io_, [this, way, by] { (a_.driver.get()->*way)(by); });
  }

  bool commits_ = true;
  bool leaves_ = false;  // its blocks say so
  protocol::Progress now_;
  std::function<void()> on_commit;
  std::function<void(int tick, Outbox&)> on_tick;
  std::vector<protocol::StoreId> stored_;
  int ticks_ = 0;
};

TEST_F(NodeDriverStopTest, WithoutACommitItEndsAtOnceAndSaysHowLongTheOthersWait) {
  commits_ = false;
  on_tick = [&](int tick, Outbox&) {
    if (tick == 3) Order(&NodeDriver::StopSafely);
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_THAT(report.outcome.reason,
              AllOf(HasSubstr("stopped by SIGTERM in step "), HasSubstr("after 42 s they drop it"),
                    Not(HasSubstr("coin"))));
  EXPECT_THAT(a_.log.notices, Not(Contains(HasSubstr("stopping with the block"))));
}

TEST_F(NodeDriverStopTest, WithACommitItWorksOnUntilTheBlockAndSignsNoOther) {
  int asked_at = 0;
  on_tick = [&](int tick, Outbox& out) {
    if (asked_at > 0 && tick == asked_at + 30) EndStep(out);
  };
  on_commit = [&] {
    asked_at = ticks_;
    Order(&NodeDriver::StopSafely);
    Order(&NodeDriver::StopSafely);  // changes nothing
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(ticks_, asked_at + 30) << "it went on, and had no input after the block";
  EXPECT_THAT(stored_, ElementsAre(10)) << "the next COMMIT was signed";
  EXPECT_EQ(report.last_block->step, kStep);
  EXPECT_THAT(a_.log.notices, Contains(AllOf(HasSubstr("stopping with the block of step 11"),
                                             HasSubstr("given 149 s"), HasSubstr("SIGTERM again"),
                                             HasSubstr("committed to a coin"))));
  EXPECT_THAT(report.outcome.reason,
              AllOf(HasSubstr("after 42 s they drop it"), Not(HasSubstr("coin"))));
}

TEST_F(NodeDriverStopTest, ASecondOrderEndsItAtOnceAndSaysWhatThatCosts) {
  on_commit = [&] {
    Order(&NodeDriver::StopSafely);
    Order(&NodeDriver::Stop);
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_THAT(report.outcome.reason,
              AllOf(HasSubstr("committed to a coin and not shown it"), HasSubstr("1000 steps")));
}

TEST_F(NodeDriverStopTest, AStepThatDoesNotEndIsGivenUp) {
  a_.options.waits = [](const wire::Block&) {
    return StepWaits{.parts = {}, .messages = {}, .coins = {}, .step = base::Milliseconds(10)};
  };
  on_commit = [&] { Order(&NodeDriver::StopSafely); };
  const NodeReport report = RunAlone();
  EXPECT_THAT(report.outcome.reason,
              AllOf(HasSubstr("the block did not come within"), HasSubstr("committed to a coin")));
}

// It follows, has not begun, or has finished.
TEST_F(NodeDriverStopTest, WhoIsInNoStepEndsAtOnce) {
  on_commit = [&] {
    now_.at_work = false;
    Order(&NodeDriver::StopSafely);
  };
  EXPECT_EQ(RunAlone().outcome.reason, "stopped by SIGTERM in step 10");
}

TEST_F(NodeDriverStopTest, WhoIsDroppedWhileItWaitsEndsThen) {
  on_commit = [&] { Order(&NodeDriver::StopSafely); };
  on_tick = [&](int tick, Outbox&) {
    if (tick == 40) now_.at_work = false;
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(ticks_, 40);
}

TEST_F(NodeDriverStopTest, WhoHaltsWhileItWaitsEndsAsItHalted) {
  on_commit = [&] { Order(&NodeDriver::StopSafely); };
  on_tick = [&](int tick, Outbox& out) {
    if (tick == 40) Tell(out, protocol::Halted{protocol::Halted::Why::kBanned, kStep, "a lie"});
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kBanned);
}

TEST_F(NodeDriverStopTest, AnEarlierProcessHadCommitted) {
  commits_ = false;
  auto restored = std::make_shared<protocol::Restored>();
  restored->slots = {RecordOf(kStep, wire::MessageType::kCommit)};
  a_.options.restored = restored;
  on_tick = [&](int tick, Outbox& out) {
    if (tick == 3) Order(&NodeDriver::StopSafely);
    if (tick == 40) EndStep(out);
  };
  RunAlone();
  EXPECT_EQ(ticks_, 40);
}

TEST_F(NodeDriverStopTest, LeaveStopsSafelyWhereThereIsNothingToLeave) {
  on_commit = [&] { Order(&NodeDriver::Leave, "Ctrl-C"); };
  on_tick = [&](int tick, Outbox& out) {
    if (tick == 40) EndStep(out);
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kInterrupted);
  EXPECT_EQ(ticks_, 40);
}

// Two members asked at once, and the run could do without one.
TEST_F(NodeDriverStopTest, WhoAskedToLeaveAndIsNotListedStopsSafely) {
  a_.options.may_leave = [](const wire::Block&) { return true; };
  a_.options.borne_without = [](const wire::Block&) { return 0U; };
  on_commit = [&] {
    if (stored_.size() == 1) Order(&NodeDriver::Leave, "a pause");
  };
  on_tick = [&](int tick, Outbox& out) {
    if (tick % 40 == 0) EndStep(out);
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kInterrupted);
  EXPECT_THAT(report.outcome.reason, HasSubstr("stopped by a pause"));
  // At once, unless its COMMIT of the next step is on disk by then.
  EXPECT_THAT(report.last_block->step, ::testing::AnyOf(kStep + 1, kStep + 2));
  EXPECT_THAT(a_.log.notices,
              AllOf(Contains(AllOf(HasSubstr("leaving: the others let this node go"),
                                   HasSubstr("bears 0 faults without it, and 1 with it"))),
                    Contains(HasSubstr("cannot let this node go"))));
}

TEST_F(NodeDriverStopTest, WhoIsListedGoesOnUntilItHasLeft) {
  a_.options.may_leave = [](const wire::Block&) { return true; };
  on_commit = [&] {
    if (stored_.size() == 1) Order(&NodeDriver::Leave, "a pause");
  };
  on_tick = [&](int tick, Outbox& out) {
    if (tick % 40 != 0) return;
    leaves_ = true;
    if (tick < 160) return EndStep(out);
    Tell(out, protocol::Halted{protocol::Halted::Why::kLeft, now_.step, "left"});
  };
  EXPECT_EQ(RunAlone().outcome.end, NodeEnd::kLeft);
  EXPECT_THAT(a_.log.notices, Not(Contains(HasSubstr("cannot let this node go"))));
}

TEST_F(NodeDriverStopTest, AStateIsNotEvaluatedWhileTheOthersWait) {
  a_.options.evaluate_every = 1;
  std::atomic<int> evaluations = 0;
  a_.trainer->evaluation = [&](std::span<const float>) {
    ++evaluations;
    return train::Evaluation{"loss", 1, 1};
  };
  on_commit = [&] { Order(&NodeDriver::StopSafely); };
  on_tick = [&](int tick, Outbox& out) {
    if (tick == 40) EndStep(out);
  };
  RunAlone();
  EXPECT_EQ(evaluations, 1) << "of the state before";
}

// The folder goes away while the node runs.
TEST_F(NodeDriverStopTest, WhatCannotBeRecordedIsNotSignedAndEndsTheNode) {
  on_tick = [&](int tick, Outbox& out) {
    if (tick != 40) return;
    std::filesystem::rename(a_.data_dir, a_.data_dir + "-moved");
    out.Add(protocol::Store{30, {RecordOf(kStep, wire::MessageType::kReveal)}});
  };
  const NodeReport report = RunAlone();
  EXPECT_EQ(report.outcome.end, NodeEnd::kFailed);
  EXPECT_THAT(stored_, ElementsAre(10)) << "its coin would be shown, and not remembered";
  EXPECT_THAT(report.outcome.reason,
              AllOf(HasSubstr("was moved, deleted or replaced"), HasSubstr("--data-dir"),
                    HasSubstr("committed to a coin and not shown it"), Not(HasSubstr("then:"))));
  EXPECT_FALSE(std::filesystem::exists(a_.data_dir)) << "nothing takes its place";
}

}  // namespace
}  // namespace ostraka::host::node_driver_stop_test
