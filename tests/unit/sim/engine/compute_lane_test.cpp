#include "sim/engine/compute_lane.h"

#include <gtest/gtest.h>

namespace ostraka::sim::compute_lane_test {
namespace {

using protocol::GradientSpec;
using protocol::JobSpec;
using protocol::RecomputeSpec;
using Purpose = RecomputeSpec::Purpose;

base::Time At(std::int64_t ms) { return base::Time{} + base::Milliseconds(ms); }

// A job of a second in four micro-batches.
ComputeLane::Job Job(protocol::JobId id, JobSpec spec) {
  return {id, std::make_shared<const JobSpec>(std::move(spec)), base::Milliseconds(1000),
          base::Milliseconds(250)};
}
ComputeLane::Job Own(protocol::JobId id) { return Job(id, GradientSpec{}); }
ComputeLane::Job Other(protocol::JobId id, Purpose purpose) {
  return Job(id, RecomputeSpec{.purpose = purpose, .gradient = {}});
}

// The jobs in the order in which they end, each with its end in ms.
std::vector<std::pair<protocol::JobId, std::int64_t>> EndsOf(ComputeLane& lane) {
  std::vector<std::pair<protocol::JobId, std::int64_t>> ends;
  while (lane.runs()) {
    const base::Time end = lane.End();
    ends.emplace_back(lane.TakeDone(end).id, end.ns / 1'000'000);
  }
  return ends;
}

using Ends = std::vector<std::pair<protocol::JobId, std::int64_t>>;

TEST(ComputeLane, OwnGradientsGoFirstThenAccusationsVotesAndLooks) {
  ComputeLane lane;
  EXPECT_TRUE(lane.Start(Own(1), At(0)));
  EXPECT_FALSE(lane.Start(Other(2, Purpose::kLook), At(0)));
  EXPECT_FALSE(lane.Start(Other(3, Purpose::kVote), At(0)));
  EXPECT_FALSE(lane.Start(Other(4, Purpose::kVote), At(0)));
  EXPECT_FALSE(lane.Start(Other(5, Purpose::kAccusation), At(0)));
  EXPECT_FALSE(lane.Start(Own(6), At(0)));
  EXPECT_EQ(EndsOf(lane), (Ends{{1, 1000}, {6, 2000}, {5, 3000}, {3, 4000}, {4, 5000}, {2, 6000}}));
}

TEST(ComputeLane, WhatRunsGivesWayAfterItsMicroBatchAndBeginsAnew) {
  ComputeLane lane;
  lane.Start(Other(1, Purpose::kVote), At(0));
  const std::uint64_t before = lane.ticket();
  EXPECT_TRUE(lane.Start(Own(2), At(300)));
  EXPECT_NE(lane.ticket(), before);
  EXPECT_EQ(EndsOf(lane), (Ends{{2, 1500}, {1, 2500}}));
}

TEST(ComputeLane, WhatIsInItsLastMicroBatchEnds) {
  ComputeLane lane;
  lane.Start(Other(1, Purpose::kLook), At(0));
  EXPECT_FALSE(lane.Start(Own(2), At(800)));
  EXPECT_EQ(EndsOf(lane), (Ends{{1, 1000}, {2, 2000}}));
}

TEST(ComputeLane, AStoppedJobLeavesAndTheNextBegins) {
  ComputeLane lane;
  lane.Start(Own(1), At(0));
  lane.Start(Own(2), At(0));
  lane.Start(Own(3), At(0));
  EXPECT_EQ(lane.Stop(2, At(100)), At(100)) << "it waited";
  EXPECT_EQ(lane.Stop(1, At(300)), At(500)) << "it ran";
  EXPECT_EQ(lane.Stop(7, At(300)), std::nullopt);
  EXPECT_EQ(EndsOf(lane), (Ends{{3, 1500}}));
}

}  // namespace
}  // namespace ostraka::sim::compute_lane_test
