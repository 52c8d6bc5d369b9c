#include "node/host/report/node_status.h"

#include <gmock/gmock.h>

#include <utility>

namespace ostraka::host::node_status_test {
namespace {

using base::Milliseconds;
using base::Seconds;
using base::Time;
using ::testing::HasSubstr;

base::PeerId PeerOf(std::uint8_t n) {
  base::PeerId id;
  id.bytes.fill(n);
  return id;
}

protocol::StepDone Done(std::uint64_t step, std::vector<wire::ColumnFate> columns = {},
                        std::vector<wire::Removal> removals = {}, bool genesis = false) {
  wire::Block block;
  block.step = step;
  block.genesis = genesis;
  block.columns = std::move(columns);
  block.removals = std::move(removals);
  return {std::make_shared<const wire::Block>(std::move(block)), {}};
}

protocol::StepStarted Begin(std::uint64_t step) {
  protocol::StepStarted started;
  started.step = step;
  return started;
}

NodeStatus Running(std::uint64_t step, base::Duration recent, base::Duration since_progress) {
  NodeStatus status;
  status.met = true;
  status.progress.step = step;
  status.progress.phase = "collect";
  status.recent_step = recent;
  status.since_progress = since_progress;
  return status;
}

TEST(StepHistogramTest, CountsCumulativelyAsPrometheusDoes) {
  StepHistogram histogram;
  for (const double seconds : {0.005, 0.3, 0.4, 1e6}) histogram.Add(seconds);
  EXPECT_EQ(histogram.count, 4u);
  EXPECT_DOUBLE_EQ(histogram.sum_seconds, 1e6 + 0.705);
  EXPECT_EQ(histogram.at_most[0], 1u);  // 0.01
  EXPECT_EQ(histogram.at_most[3], 2u);  // 0.3: the bound itself is within
  EXPECT_EQ(histogram.at_most[4], 3u);  // 1
  EXPECT_EQ(histogram.at_most.back(), 3u);
}

TEST(NodeMonitorTest, TimesStepsFromTheirBeginToTheirBlock) {
  NodeMonitor monitor(Time{} + Seconds(100));
  EXPECT_FALSE(monitor.StatusAt(Time{} + Seconds(101)).met);
  EXPECT_EQ(monitor.StatusAt(Time{} + Seconds(101)).since_progress, Seconds(1));
  Time now = Time{} + Seconds(110);
  monitor.See(now, Done(0, {}, {}, /*genesis=*/true));
  EXPECT_TRUE(monitor.StatusAt(now).met);
  EXPECT_EQ(monitor.StatusAt(now).steps_done, 0u) << "the genesis block is no step";
  for (std::uint64_t step = 0; step < 20; ++step) {
    monitor.See(now, Begin(step));
    now = now + Seconds(step < 4 ? 50 : 2);
    monitor.See(now, Done(step));
  }
  const NodeStatus status = monitor.StatusAt(now + Seconds(3));
  EXPECT_EQ(status.steps_done, 20u);
  EXPECT_EQ(status.recent_step, Seconds(2)) << "the slow first steps are forgotten";
  EXPECT_EQ(status.step_seconds.count, 20u);
  EXPECT_DOUBLE_EQ(status.step_seconds.sum_seconds, 4 * 50 + 16 * 2);
  EXPECT_EQ(status.since_progress, Seconds(3));
  EXPECT_EQ(status.uptime, now + Seconds(3) - (Time{} + Seconds(100)));
}

TEST(NodeMonitorTest, ASealIsProgress) {
  NodeMonitor monitor(Time{});
  monitor.See(Time{} + Seconds(1), Begin(0));
  monitor.See(Time{} + Seconds(9), protocol::Sealed{});
  EXPECT_EQ(monitor.StatusAt(Time{} + Seconds(10)).since_progress, Seconds(1));
  monitor.See(Time{} + Seconds(20), protocol::Suspicion{});
  EXPECT_EQ(monitor.StatusAt(Time{} + Seconds(20)).since_progress, Seconds(11));
}

TEST(NodeMonitorTest, CountsWhatBecameOfColumnsPeersAndSuspicions) {
  NodeMonitor monitor(Time{});
  const wire::Removal removal{PeerOf(7), wire::RemovalKind::kVerdict, 1, {.old_text = "it lied"}};
  monitor.See(Time{}, Done(0, {wire::ColumnFate::kApplied, wire::ColumnFate::kSumCheck}));
  monitor.See(Time{}, Done(1, {wire::ColumnFate::kApplied}, {removal}));
  for (int i = 0; i < 2; ++i) monitor.See(Time{}, protocol::Suspicion{0, PeerOf(7), "V1", "lied"});
  protocol::StepTimes times;
  times.compute_ns = 5;
  times.agree_ns = 7;
  for (int i = 0; i < 2; ++i) monitor.See(Time{}, times);
  monitor.SeeEvaluation(1, {.metric = "loss", .value = 0.5, .loss = 0.5});
  const NodeStatus status = monitor.StatusAt(Time{});
  EXPECT_EQ(status.columns[static_cast<std::size_t>(wire::ColumnFate::kApplied)], 2u);
  EXPECT_EQ(status.columns[static_cast<std::size_t>(wire::ColumnFate::kSumCheck)], 1u);
  ASSERT_EQ(monitor.removals().size(), 1u);
  EXPECT_EQ(monitor.removals()[0].peer, PeerOf(7));
  EXPECT_EQ(status.suspicions.at("V1"), 2u);
  EXPECT_EQ(status.step_times.compute_ns, 10);
  EXPECT_EQ(status.step_times.agree_ns, 14);
  EXPECT_EQ(status.timed_steps, 2u);
  EXPECT_EQ(status.learning.evaluated_step, 1u);
}

TEST(NodeMonitorTest, AMemberThatIsDroppedAgainAndAgainTakesNoMoreRoom) {
  NodeMonitor monitor(Time{});
  monitor.See(Time{},
              Done(0, {}, {{PeerOf(7), wire::RemovalKind::kVerdict, 0, {.old_text = "it lied"}}}));
  for (std::uint64_t step = 1; step <= 5000; ++step) {
    monitor.See(
        Time{},
        Done(step, {}, {{PeerOf(8), wire::RemovalKind::kDrop, step, {.old_text = "silent"}}}));
  }
  const NodeStatus status = monitor.StatusAt(Time{});
  EXPECT_EQ(monitor.removals().size(), RemovalLog::kMost);
  EXPECT_EQ(status.removals_by_kind[static_cast<std::size_t>(wire::RemovalKind::kDrop)], 5000u);
  EXPECT_EQ(status.removals_by_kind[static_cast<std::size_t>(wire::RemovalKind::kVerdict)], 1u);
  EXPECT_EQ(monitor.removals().front().peer, PeerOf(7)) << "a ban is kept";
  EXPECT_EQ(monitor.removals().back().step, 5000u);
}

// --- paths ---------------------------------------------------------------------------------------

TEST(PathTest, IsALinkOrByWayOfMembersThatCanBeDialed) {
  NodeStatus status;
  status.self = PeerOf(1);
  status.others = {PeerOf(2), PeerOf(3), PeerOf(4)};
  status.linked = {PeerOf(3)};
  EXPECT_EQ(PathTo(status, PeerOf(3)), Path::kDirect);
  EXPECT_EQ(PathTo(status, PeerOf(2)), Path::kNone) << "both can be dialed";
  status.only_dial = {PeerOf(1), PeerOf(2)};
  EXPECT_EQ(PathTo(status, PeerOf(2)), Path::kForwarded);
  EXPECT_STREQ(PathName(Path::kForwarded), "forwarded");
  status.only_dial.insert(PeerOf(3));
  EXPECT_EQ(PathTo(status, PeerOf(2)), Path::kNone) << "nobody can carry";
}

TEST(PathTest, TheMonitorKnowsTheNewestBlocksWord) {
  NodeMonitor monitor(Time{} + Seconds(1));
  wire::Block head;
  for (std::uint8_t n = 1; n <= 4; ++n) head.members.push_back(PeerOf(n));
  head.thresholds = {4, 1, 1};
  head.reach = {{PeerOf(2), true, 0}, {PeerOf(3), false, 140}};
  monitor.SeeReach(head);
  const NodeStatus status = monitor.StatusAt(Time{} + Seconds(2));
  EXPECT_EQ(status.only_dial, std::set<base::PeerId>{PeerOf(2)});
  EXPECT_THAT(status.reach_warning, HasSubstr("only 3 of 4 members can be dialed"));
}

TEST(HealthTest, WaitingForMembersToMeetIsWell) {
  NodeStatus status;
  status.since_progress = Seconds(86'400);
  status.others = {PeerOf(1), PeerOf(2)};
  status.linked = {PeerOf(1)};
  EXPECT_TRUE(HealthOf(status).ok);
  EXPECT_THAT(HealthOf(status).reason, HasSubstr("1 of 2 linked"));
}

// A newcomer, or a member that lost its data folder.
TEST(HealthTest, WhoComesToARunAndFindsNobodyIsNotWell) {
  NodeStatus status;
  status.progress.phase = "follow";
  status.others = {PeerOf(1), PeerOf(2)};
  status.since_progress = kPatience + Seconds(1);
  EXPECT_FALSE(HealthOf(status).ok);
  EXPECT_THAT(HealthOf(status).reason, HasSubstr("linked with 0 of 2 members that it knows; "));
  status.since_progress = kPatience;
  EXPECT_TRUE(HealthOf(status).ok);
  status.since_progress = Seconds(86'400);
  status.linked = {PeerOf(1)};
  EXPECT_TRUE(HealthOf(status).ok) << "it is somewhere on the way";
}

TEST(HealthTest, AMemberWithAnotherManifestKeepsTheRunFromBeginning) {
  NodeStatus status;
  status.others = {PeerOf(1), PeerOf(2), PeerOf(3)};
  status.traffic.of_another[PeerOf(2)] = "has a manifest that differs from ours";
  EXPECT_FALSE(HealthOf(status).ok);
  EXPECT_EQ(HealthOf(status).reason, "0202020202020202 has a manifest that differs from ours");
  status.traffic.of_another[PeerOf(3)] = "speaks protocol 3, we speak 4";
  EXPECT_THAT(HealthOf(status).reason, HasSubstr("; and 1 more members are of another run"));
  NodeStatus running = Running(3, Seconds(1), Seconds(2));
  running.traffic = status.traffic;
  EXPECT_TRUE(HealthOf(running).ok) << "the run goes on without it";
  running = Running(3, Seconds(1), kPatience + Seconds(1));
  running.traffic = status.traffic;
  EXPECT_THAT(HealthOf(running).reason, HasSubstr("; 0202020202020202 has a manifest"));
}

TEST(HealthTest, ARunThatDoesNotBeginThoughAllAreThereIsNot) {
  NodeStatus status;
  status.progress.phase = "genesis";
  status.others = status.linked = {PeerOf(1)};
  status.progress.missing = {{PeerOf(1), "boot"}};
  status.since_progress = Seconds(86'400);
  EXPECT_TRUE(HealthOf(status).ok);
  status.progress.missing = {{PeerOf(1), "echo"}};
  EXPECT_FALSE(HealthOf(status).ok);
  EXPECT_THAT(HealthOf(status).reason,
              HasSubstr("waits for echo of 0101010101010101; if a member"));
  status.linked.clear();
  EXPECT_TRUE(HealthOf(status).ok) << "it is away";
  status.linked = status.others;
  status.since_progress = kPatience;
  EXPECT_TRUE(HealthOf(status).ok);
}

TEST(NodeMonitorTest, BeforeTheRunBeginsWhoComesIsProgress) {
  NodeMonitor monitor(Time{});
  monitor.SeeLinks(Time{} + Seconds(100));
  EXPECT_EQ(monitor.StatusAt(Time{} + Seconds(130)).since_progress, Seconds(30));
  monitor.See(Time{} + Seconds(140), protocol::StepDone{std::make_shared<const wire::Block>(), {}});
  monitor.SeeLinks(Time{} + Seconds(150));
  EXPECT_EQ(monitor.StatusAt(Time{} + Seconds(160)).since_progress, Seconds(20));
}

TEST(HealthTest, NoProgressForLongIsNot) {
  EXPECT_TRUE(HealthOf(Running(3, Seconds(1), kPatience)).ok);
  NodeStatus late = Running(3, Seconds(1), kPatience + Milliseconds(1));
  EXPECT_FALSE(HealthOf(late).ok);
  EXPECT_THAT(HealthOf(late).reason, HasSubstr("its own work"));
  late.progress.missing = {{PeerOf(0xab), "commit"}, {PeerOf(0xcd), "part"}};
  EXPECT_EQ(HealthOf(late).reason,
            "step 3, collect: no progress for 30 s, waits for commit of abababababababab and 1 "
            "more");
  // Whose steps take minutes is given ten of them.
  EXPECT_TRUE(HealthOf(Running(3, Seconds(60), Seconds(600))).ok);
  EXPECT_FALSE(HealthOf(Running(3, Seconds(60), Seconds(601))).ok);
}

TEST(HealthTest, AnEndIsWellOnlyIfTheRunFinished) {
  NodeStatus status = Running(3, Seconds(1), {});
  status.outcome = NodeOutcome{NodeEnd::kFinished, 3, "all steps are done"};
  EXPECT_TRUE(HealthOf(status).ok);
  status.outcome = NodeOutcome{NodeEnd::kBanned, 3, "it lied"};
  EXPECT_FALSE(HealthOf(status).ok);
  EXPECT_EQ(HealthOf(status).reason, "banned: it lied");
}

}  // namespace
}  // namespace ostraka::host::node_status_test
