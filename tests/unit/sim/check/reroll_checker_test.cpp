#include "sim/check/reroll_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/sim/checked_peers.h"

namespace ostraka::sim::reroll_checker_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kDimension = 60;

// Six members, of whom the second leaves.
class RerollCheckerTest : public testing::Test {
 protected:
  RerollCheckerTest() : head_(ABlock(4)) {
    head_.members.clear();
    for (std::uint32_t i = 0; i < 6; ++i) head_.members.push_back(Key(i)->id());
    std::sort(head_.members.begin(), head_.members.end());
    head_.leaving = {head_.members[1]};
    head_.randomness.bytes[0] = 9;
    roles_ = protocol::AssignRoles(head_, kDimension);
  }
  std::string See() {
    EXPECT_EQ(Fault(checker_.OnAction(0, Done(head_))), "");
    protocol::StepStarted started;
    started.step = HeightOf(head_);
    started.roles = roles_;
    return Fault(checker_.OnAction(0, protocol::Observe{std::move(started)}));
  }

  wire::Block head_;
  protocol::Roles roles_;
  RerollChecker checker_{ThreePeers(), kDimension};
};

TEST_F(RerollCheckerTest, AcceptsOwnersInOrderAfterALeave) {
  ASSERT_EQ(roles_.owners.size(), 5U);
  EXPECT_EQ(See(), "");
}

TEST_F(RerollCheckerTest, FiresOnAnotherOrder) {
  std::swap(roles_.owners[1], roles_.owners[3]);
  EXPECT_THAT(See(), HasSubstr("order of all members"));
}

TEST_F(RerollCheckerTest, FiresOnALeaverWithARole) {
  roles_.workers.push_back(head_.leaving[0]);
  EXPECT_THAT(See(), HasSubstr("is leaving, and holds a role"));
}

}  // namespace
}  // namespace ostraka::sim::reroll_checker_test
