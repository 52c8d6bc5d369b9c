// The full protocol as a cell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compare/cells/runner.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::protocol_run_test {
namespace {

CellResult RunCell(const std::function<void(Grid&)>& change) {
  const Plan plan = MadeUpPlan([&](Grid& grid) {
    grid.rules = {"btard"};
    grid.seeds = {1};
    grid.peers = {5};
    grid.byzantine = {1};
    grid.steps = 60;
    grid.momentum = {0.9};
    change(grid);
  });
  CellRunner runner(plan.sources);
  auto result = runner.Run(plan.cells.at(0), nullptr);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.value_or(CellResult{{Point()}, {}, ProtocolFacts(), 0});
}

TEST(ProtocolRun, LearnsAndBansNoHonestMember) {
  const CellResult result = RunCell([](Grid&) {});
  ASSERT_TRUE(result.protocol);
  EXPECT_TRUE(result.protocol->removals.empty());
  EXPECT_FALSE(result.protocol->detection_steps);
  EXPECT_EQ(result.protocol->steps, 60u);
  EXPECT_GT(FinalOf(result).test_accuracy, 0.8);
  EXPECT_EQ(result.curve.size(), 7u);
  EXPECT_GT(result.bytes, 0u);
}

TEST(ProtocolRun, BansEveryAttackerAndRecovers) {
  const CellResult result = RunCell([](Grid& grid) {
    grid.attacks = {"sign_flip"};
    grid.attack_from = 5;
  });
  ASSERT_TRUE(result.protocol);
  EXPECT_EQ(result.protocol->removals.size(), 1u);
  for (const auto& removal : result.protocol->removals) {
    EXPECT_TRUE(removal.byzantine);
    EXPECT_GE(removal.step, 5u);
  }
  EXPECT_TRUE(result.protocol->detection_steps);
  EXPECT_GT(FinalOf(result).test_accuracy, 0.8);
}

TEST(ProtocolRun, HasTheAlarmOfNodes) {
  const auto bans = [](const char* rule) {
    return RunCell([rule](Grid& grid) {
             grid.rules = {rule};
             grid.attacks = {"sign_flip"};
             grid.peers = {16};
             grid.byzantine = {5};
             grid.steps = 60;
           })
        .protocol->removals;
  };
  const auto as_nodes = bans("btard");
  const auto quiet = bans("btard:alarm=0");
  ASSERT_EQ(as_nodes.size(), 5U);
  ASSERT_EQ(quiet.size(), 5U);
  EXPECT_LT(as_nodes.back().step, quiet.back().step);
}

TEST(ProtocolRun, StartsFromTheSameModelAsAServer) {
  const CellResult protocol = RunCell([](Grid&) {});
  const CellResult server = RunCell([](Grid& grid) { grid.rules = {"mean"}; });
  EXPECT_EQ(protocol.curve.front(), server.curve.front());
}

TEST(ProtocolRun, ParametersAreRead) {
  EXPECT_TRUE(ParseProtocol({{"tau", "1"}, {"validators", "2"}, {"mode", "third"}}).ok());
  EXPECT_FALSE(ParseProtocol({{"tau", "-1"}}).ok());
  EXPECT_FALSE(ParseProtocol({{"mode", "half"}}).ok());
}

}  // namespace
}  // namespace ostraka::compare::protocol_run_test
