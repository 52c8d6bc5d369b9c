// A member is a function of its inputs: a new machine that is given the inputs of another one, each
// at its time, has equal actions.
#include <gtest/gtest.h>

#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"
#include "tests/unit/protocol/scene.h"

namespace ostraka::protocol::replay_test {
namespace {

using scene::Cluster;
using scene::ClusterOptions;

ClusterOptions Recorded(std::uint32_t n, std::uint64_t steps) {
  ClusterOptions options;
  options.n = n;
  options.steps = steps;
  options.records = true;
  return options;
}

TEST(ReplayTest, OfARunInWhichOneLiesAndIsBanned) {
  Cluster cluster(Recorded(4, 30));
  cluster.on_job = [](std::size_t node, const JobSpec& spec, JobResult& result) {
    if (node != scene::kCheat || !std::holds_alternative<GradientSpec>(spec)) return;
    auto flipped = *std::get<GradientResult>(result).gradient;
    for (float& value : flipped) value *= -3;
    result = GradientResult{std::make_shared<const std::vector<float>>(std::move(flipped))};
  };
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_EQ(scene::RemovalsOf(cluster).size(), 1u);
  cluster.ExpectReplays();
}

TEST(ReplayTest, OfAMemberThatDiesAndStartsAgain) {
  Cluster cluster(Recorded(4, 20));
  cluster.Start();
  cluster.RunUntil([&] { return cluster.node(1).blocks.size() == 5; });
  cluster.Kill(1);
  cluster.Restart(1);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.node(1).lives.recorded.size(), 2u);
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  cluster.ExpectReplays();
}

// Told while it runs, and as it starts.
TEST(ReplayTest, OfMembersThatAreToldToLeave) {
  Cluster cluster(Recorded(8, 30));
  cluster.wishes[5].leave = {.from = 3};
  cluster.Start();
  cluster.RunUntil([&] { return cluster.node(2).blocks.size() == 4; });
  cluster.Feed(2, Told{.leave = Told::Leave{}});
  cluster.RunToEnd();
  for (const std::size_t leaver : {2, 5}) {
    ASSERT_TRUE(cluster.node(leaver).halted);
    EXPECT_EQ(cluster.node(leaver).halted->why, Halted::Why::kLeft);
  }
  cluster.ExpectReplays();
}

}  // namespace
}  // namespace ostraka::protocol::replay_test
