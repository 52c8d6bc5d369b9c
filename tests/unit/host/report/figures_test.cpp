#include "node/host/report/figures.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

namespace ostraka::host::figures_test {
namespace {

using base::Milliseconds;
using base::PeerId;
using base::Seconds;
using base::Time;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

PeerId PeerOf(std::uint8_t n) {
  PeerId id;
  id.bytes.fill(n);
  return id;
}

wire::Block BlockOf(std::uint64_t step, std::vector<std::uint8_t> members) {
  wire::Block block;
  block.step = step;
  for (const std::uint8_t n : members) block.members.push_back(PeerOf(n));
  return block;
}

NodeStatus StatusOf(const wire::Block& block) {
  NodeStatus status;
  status.self = PeerOf(1);
  status.met = true;
  status.block = std::make_shared<const wire::Block>(block);
  status.progress.step = wire::HeightOf(block);
  status.progress.phase = "collect";
  return status;
}

NodeStatus Running(std::uint64_t step, base::Duration recent) {
  NodeStatus status;
  status.met = true;
  status.progress.step = step;
  status.recent_step = recent;
  return status;
}

TEST(FiguresTest, TheTimeLeftIsWhatTheStepsLeftTakeAtThePaceOfLate) {
  const auto left = [](const NodeStatus& status, std::uint64_t steps) {
    return FiguresOf(status, steps).left;
  };
  EXPECT_EQ(left(Running(10, Milliseconds(1500)), 30), Seconds(30));
  EXPECT_EQ(left(Running(30, Seconds(1)), 30), Seconds(0));
  EXPECT_EQ(left(Running(31, Seconds(1)), 30), Seconds(0));
  EXPECT_EQ(left(Running(0, base::Duration{}), 30), std::nullopt) << "no step is done";
  NodeStatus ended = Running(10, Seconds(1));
  ended.outcome = NodeOutcome{NodeEnd::kFinished, 10, "done"};
  EXPECT_EQ(left(ended, 30), std::nullopt);
  const auto long_run = left(Running(0, Seconds(1000)), std::uint64_t{1} << 63);
  ASSERT_TRUE(long_run);
  EXPECT_GT(long_run->ns, 0) << "no overflow";
}

TEST(FiguresTest, AMemberIsSoByTheNewestBlock) {
  NodeStatus status = StatusOf(BlockOf(8, {1, 2, 3}));
  status.others = {PeerOf(2), PeerOf(3), PeerOf(4)};  // 4 was dropped, and may return
  const Figures figures = FiguresOf(status, 20);
  EXPECT_EQ(figures.place, Place::kMember);
  EXPECT_TRUE(figures.member);
  EXPECT_EQ(figures.members, 3u);
  EXPECT_EQ(figures.step, 9u);
  EXPECT_FALSE(figures.absence.has_value());
}

TEST(FiguresTest, WhoWasDroppedFollowsAndWhoIsBarredSaysUntilWhen) {
  wire::Block block = BlockOf(39, {2, 3, 4});
  block.standings = {{PeerOf(1), false, 1, 20}};
  NodeStatus status = StatusOf(block);
  status.away = "its REVEAL came too late";
  status.recent_step = Milliseconds(100);
  Figures figures = FiguresOf(status, 2000);
  EXPECT_EQ(figures.place, Place::kFollowing);
  EXPECT_FALSE(figures.member);
  ASSERT_TRUE(figures.absence.has_value());
  EXPECT_EQ(figures.absence->since, 20u);
  EXPECT_EQ(figures.absence->reason, "its REVEAL came too late");
  EXPECT_EQ(figures.absence->may_return, std::nullopt);
  block.standings.front().barred_until = 1020;
  status.block = std::make_shared<const wire::Block>(block);
  figures = FiguresOf(status, 2000);
  EXPECT_EQ(figures.place, Place::kBarred);
  EXPECT_EQ(figures.absence->may_return, 1020u);
  EXPECT_DOUBLE_EQ(*figures.absence->seconds, 98.0) << "980 steps of 100 ms";
  block.step = 1019;
  status.block = std::make_shared<const wire::Block>(block);
  EXPECT_EQ(FiguresOf(status, 2000).place, Place::kFollowing) << "step 1020 may ask";
}

TEST(FiguresTest, TheOwnBatchSaysNothingOfARunThatGoesOnWithoutThisNode) {
  NodeStatus status = StatusOf(BlockOf(8, {1, 2, 3}));
  status.learning.batch_loss = 0.5;
  status.learning.batch_step = 8;
  EXPECT_EQ(FiguresOf(status, 20).batch->step, 8u);
  status.away = "it fell behind";
  EXPECT_FALSE(FiguresOf(status, 20).batch.has_value());
  status = StatusOf(BlockOf(8, {2, 3}));
  status.learning.batch_loss = 0.5;
  EXPECT_FALSE(FiguresOf(status, 20).batch.has_value());
}

TEST(FiguresTest, OthersThatAreOutAreBannedDroppedOrLeft) {
  wire::Block block = BlockOf(500, {1, 2});
  block.standings = {{PeerOf(3), true, 0, 0},
                     {PeerOf(4), false, 1, 30},
                     {.peer = PeerOf(5), .left_step = 40},
                     // It left too soon after a return: that is its drop as well.
                     {.peer = PeerOf(6), .drops = 1, .last_drop_step = 50, .left_step = 50},
                     // It came back, and is a member.
                     {.peer = PeerOf(2), .last_drop_step = 9, .returned_step = 12},
                     // It left, came back, and was dropped.
                     {.peer = PeerOf(7), .last_drop_step = 90, .left_step = 60}};
  const Outside outside = OutsideOf(block);
  EXPECT_THAT(outside.banned, ElementsAre(PeerOf(3)));
  EXPECT_THAT(outside.dropped, ElementsAre(PeerOf(4), PeerOf(7)));
  EXPECT_THAT(outside.left, ElementsAre(PeerOf(5), PeerOf(6)));
}

TEST(FiguresTest, RemovalsThatANodeDidNotSeeAreToldByALaterBlock) {
  RunHistory history;
  wire::Block seen = BlockOf(20, {1, 2, 3, 4});
  seen.removals = {{PeerOf(5), wire::RemovalKind::kDrop, 20, {.old_text = "silent"}}};
  seen.standings = {{PeerOf(5), false, 1, 20}};
  history.See(Time{}, protocol::StepDone{std::make_shared<const wire::Block>(seen), {}});
  EXPECT_THAT(RemovalsAsOf(history, history.block().get()), SizeIs(1));
  wire::Block later = BlockOf(900, {1, 2});
  later.standings = {{PeerOf(3), true, 0, 0}, {PeerOf(4), false, 1, 30}, {PeerOf(5), false, 1, 20}};
  history.See(Time{}, protocol::StepDone{std::make_shared<const wire::Block>(later), {}});
  const auto removals = RemovalsAsOf(history, history.block().get());
  ASSERT_THAT(removals, SizeIs(3));
  EXPECT_EQ(removals[0].removal.peer, PeerOf(3)) << "banned, nobody knows here in which step";
  EXPECT_TRUE(wire::IsBan(removals[0].removal.kind));
  EXPECT_FALSE(removals[0].seen);
  EXPECT_TRUE(removals[1].seen);
  EXPECT_EQ(wire::TextOf(removals[1].removal.reason), "silent");
  EXPECT_EQ(removals[2].removal.peer, PeerOf(4));
  EXPECT_EQ(removals[2].removal.step, 30u);
  EXPECT_THAT(wire::TextOf(removals[2].removal.reason), HasSubstr("away then"));
  EXPECT_THAT(RemovalsAsOf(RunHistory{}, nullptr), IsEmpty());
}

// --- the pace of a run that goes on without this node --------------------------------------------

protocol::StepDone Done(std::uint64_t step) {
  wire::Block block;
  block.step = step;
  return {std::make_shared<const wire::Block>(std::move(block)), {}};
}

TEST(PaceTest, AFollowerCountsTheStepsOfTheRun) {
  NodeMonitor monitor(Time{});
  Time now{};
  // The step in which it was dropped: the others waited a minute for it.
  monitor.See(now, protocol::StepStarted{.step = 9, .batches = {}, .state = {}, .roles = {}});
  now = now + Seconds(60);
  monitor.See(now, protocol::Away{9, "too late"});
  // It catches up on 400 blocks in no time.
  for (std::uint64_t step = 9; step < 409; ++step) {
    now = now + Milliseconds(1);
    monitor.See(now, Done(step));
    monitor.See(now, protocol::CatchingUp{step + 1, 410, ""});
  }
  EXPECT_EQ(monitor.StatusAt(now).recent_step.ns, 0) << "neither the minute nor the milliseconds";
  for (std::uint64_t step = 409; step < 429; ++step) {
    now = now + Milliseconds(110);
    monitor.See(now, Done(step));
    monitor.See(now, protocol::CatchingUp{step + 1, step + 1, ""});
  }
  EXPECT_EQ(monitor.StatusAt(now).recent_step, Milliseconds(110));
  EXPECT_EQ(monitor.StatusAt(now).step_seconds.count, 0u) << "the histogram is of its own steps";
}

TEST(PaceTest, AFollowerThatIsSomeBlocksBehindSeesTheSamePace) {
  NodeMonitor monitor(Time{});
  Time now{};
  monitor.See(now, protocol::Away{9, "too late"});
  std::uint64_t head = 10;
  for (int i = 0; i < 12; ++i) {  // news of three blocks at a time, then each is applied
    for (std::uint64_t height = head - 3; height <= head; ++height) {
      monitor.See(now, protocol::CatchingUp{height, head, ""});
    }
    now = now + Milliseconds(60);
    head += 3;
  }
  EXPECT_EQ(monitor.StatusAt(now).recent_step, Milliseconds(20));
}

}  // namespace
}  // namespace ostraka::host::figures_test
