// A member that leaves by its own word, and one that is started again before the run has let it go.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/protocol/member/whole/cluster.h"
#include "tests/unit/protocol/member/whole/four_peers.h"

namespace ostraka::protocol::leaving_test {
namespace {

using scene::Cluster;

constexpr std::size_t kLeaver = 2;
constexpr std::uint64_t kSaysSo = 2;

scene::ClusterOptions EightFor(std::uint64_t steps) {
  return {.n = 8, .dimension = 64, .steps = steps};
}

bool IsListed(Cluster& cluster) {
  const auto& blocks = cluster.node(kLeaver).blocks;
  return !blocks.empty() && IsMember(blocks.back()->leaving, cluster.node(kLeaver).id());
}

// The others have its word then.
void KillWhenItIsListed(Cluster& cluster) {
  cluster.Start();
  while (!IsListed(cluster)) cluster.RunSome(1);
  cluster.Kill(kLeaver);
}

TEST(LeavingTest, MemberThatWasToldToLeaveEndsWhenTheRunHasLetItGo) {
  Cluster cluster(EightFor(20));
  cluster.wishes[kLeaver].leave = {.from = kSaysSo};
  cluster.Start();
  cluster.RunToEnd();
  ASSERT_TRUE(cluster.node(kLeaver).halted);
  EXPECT_EQ(cluster.node(kLeaver).halted->why, Halted::Why::kLeft);
  EXPECT_TRUE(cluster.node(kLeaver).away.empty());
}

// [It came back, left again as it still wished to, and was barred.]
TEST(LeavingTest, MemberThatIsToldToLeaveWhenItsLastCommitIsOutEnds) {
  Cluster cluster(EightFor(40));
  cluster.wishes[kLeaver].leave = {.from = kSaysSo};
  KillWhenItIsListed(cluster);
  // No COMMIT of it says so.
  cluster.wishes[kLeaver].leave = {.from = cluster.node(0).blocks.back()->step + 2};
  cluster.Restart(kLeaver);
  cluster.RunToEnd();
  ASSERT_TRUE(cluster.node(kLeaver).halted);
  EXPECT_EQ(cluster.node(kLeaver).halted->why, Halted::Why::kLeft);
  EXPECT_TRUE(cluster.node(kLeaver).back.empty());
}

// [A second Ctrl-C had stopped it. It worked, left, and ended by itself.]
TEST(LeavingTest, MemberThatWasToldSoBeforeItWasStartedAgainComesBack) {
  Cluster cluster(EightFor(40));
  cluster.delivery_takes = base::Microseconds(20);
  cluster.wishes[kLeaver].leave = {.from = kSaysSo};
  KillWhenItIsListed(cluster);
  cluster.wishes.clear();
  cluster.Restart(kLeaver);
  cluster.RunToEnd();
  EXPECT_EQ(cluster.NotHaltedAs(Halted::Why::kFinished), "");
  ASSERT_EQ(cluster.node(kLeaver).away.size(), 1u);
  EXPECT_NE(cluster.node(kLeaver).away[0].reason.find("before it was started again"),
            std::string::npos);
  EXPECT_EQ(cluster.node(kLeaver).back.size(), 1u);
  EXPECT_TRUE(scene::RemovalsOf(cluster).empty());
  cluster.ExpectAgreement();
}

}  // namespace
}  // namespace ostraka::protocol::leaving_test
