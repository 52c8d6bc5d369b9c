#include "sim/setup/turnover.h"

#include <gtest/gtest.h>

#include "sim/run/cluster.h"

namespace ostraka::sim::turnover_test {
namespace {

// Of a run with five members, in which three keys come.
TEST(TurnoverTest, TheOldestMembersLeaveAsOthersCome) {
  SimOptions options;
  options.peers = 5;
  options.byzantine = 0;
  options.turnover = 3;
  options.steps = 60;
  options.dimension = 200;
  const auto roster = RosterOf(options);
  ASSERT_TRUE(roster.ok()) << roster.status();

  class Last final : public StepObserver {
   public:
    void OnStep(const StepRecord& record) override {
      for (const protocol::Action& action : record.actions) {
        if (const auto* done = Observed<protocol::StepDone>(action)) block = done->block;
      }
    }
    std::shared_ptr<const wire::Block> block;
  } last;
  const auto result = RunSimulation(options, {}, &last);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << result->failure->message;
  ASSERT_NE(last.block, nullptr);
  EXPECT_EQ(last.block->members.size(), 5u);
  for (std::uint32_t peer = 0; peer < roster->ids.size(); ++peer) {
    const auto& members = last.block->members;
    const bool member =
        std::find(members.begin(), members.end(), roster->ids[peer]) != members.end();
    EXPECT_EQ(member, peer >= 3) << peer;
  }
}

}  // namespace
}  // namespace ostraka::sim::turnover_test
