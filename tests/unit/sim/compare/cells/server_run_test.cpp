// Cells at a trusted server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/compare/cells/runner.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::server_run_test {
namespace {

class ServerRunTest : public testing::Test {
 protected:
  CellResult RunCell(const std::function<void(Grid&)>& change, Study* study = nullptr) {
    const Plan plan = MadeUpPlan([&](Grid& grid) {
      grid.seeds = {1};
      grid.steps = 60;
      grid.learning_rate = {0.1};
      grid.momentum = {0.9};
      change(grid);
    });
    EXPECT_EQ(plan.cells.size(), 1u);
    CellRunner runner(plan.sources);
    auto result = runner.Run(plan.cells[0], study);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.value_or(CellResult{{Point()}, {}, {}, 0});
  }
};

TEST_F(ServerRunTest, LearnsWithoutAnAttack) {
  const CellResult result = RunCell([](Grid&) {});
  EXPECT_GT(FinalOf(result).test_accuracy, 0.85);
  EXPECT_LT(result.curve.front().test_accuracy, 0.4);
  EXPECT_EQ(result.curve.size(), 7u);  // steps 0, 10, ..., 60
}

TEST_F(ServerRunTest, MeanFailsWhereARobustRuleSucceeds) {
  const auto attacked = [&](const char* rule) {
    return RunCell([rule](Grid& grid) {
      grid.rules = {rule};
      grid.attacks = {"sign_flip"};
    });
  };
  EXPECT_LT(FinalOf(attacked("mean")).test_accuracy, 0.3);
  const CellResult median = attacked("median");
  EXPECT_GT(FinalOf(median).test_accuracy, 0.8);
}

// An attack without a Byzantine worker changes nothing, and with f = 0 the mean is the mean.
TEST_F(ServerRunTest, NoByzantineWorkersMeanNoAttack) {
  const auto without = [&](const char* attack) {
    return RunCell([attack](Grid& grid) {
      grid.byzantine = {0};
      grid.attacks = {attack};
    });
  };
  EXPECT_EQ(without("alie"), without("none"));
}

TEST_F(ServerRunTest, HonestUntilTheAttackBegins) {
  const CellResult none = RunCell([](Grid&) {});
  const CellResult late = RunCell([](Grid& grid) {
    grid.attacks = {"sign_flip"};
    grid.attack_from = 30;
  });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(late.curve[i], none.curve[i]) << i;
  EXPECT_NE(late.curve[4], none.curve[4]);
}

// Every attack that a grid accepts, against a rule with memory and one without.
TEST_F(ServerRunTest, EveryAttackRuns) {
  for (const auto* attack : aggregation::Attacks()) {
    // Refused, and nothing to skip: without local steps.
    if (attack->name == "wrong_length" || attack->name == "skip_inner") continue;
    for (const char* rule : {"median", "centered_clip:variant=steps+worker_momentum"}) {
      if (attack->malformed && rule != std::string_view("median")) continue;
      const CellResult result = RunCell([&](Grid& grid) {
        grid.rules = {rule};
        grid.attacks = {std::string(attack->name)};
        grid.steps = 8;
      });
      EXPECT_GT(result.curve.size(), 1u) << attack->name << " " << rule;
    }
  }
}

TEST_F(ServerRunTest, EveryRuleRuns) {
  for (const auto* rule : aggregation::Rules()) {
    std::string text(rule->about.name);
    if (text == "safeguard") text += ":th0=1,th1=1";
    const CellResult result = RunCell([&](Grid& grid) {
      grid.rules = {text};
      grid.byzantine = {1};
      grid.attacks = {"alie"};
      grid.steps = 8;
    });
    EXPECT_GT(result.curve.size(), 1u) << text;
  }
}

TEST_F(ServerRunTest, PartitionsMomentumAndDecayMatter) {
  const CellResult plain = RunCell([](Grid&) {});
  EXPECT_NE(RunCell([](Grid& g) { g.partition = {"extreme"}; }), plain);
  EXPECT_NE(RunCell([](Grid& g) { g.worker_momentum = {0.9}; }), plain);
  EXPECT_NE(RunCell([](Grid& g) { g.weight_decay = {0.1}; }), plain);
  EXPECT_NE(RunCell([](Grid& g) { g.schedule = {"cosine"}; }), plain);
  EXPECT_EQ(RunCell([](Grid&) {}), plain);
}

TEST_F(ServerRunTest, StudyHasOneRowForEachStep) {
  Study study;
  const CellResult result = RunCell(
      [](Grid& grid) {
        grid.rules = {"krum"};
        grid.attacks = {"sign_flip"};
        grid.attack_from = 20;
      },
      &study);
  ASSERT_EQ(study.rate.size(), 60u);
  EXPECT_TRUE(std::isnan(study.attack_norm[19]));
  EXPECT_LT(study.cos_honest_attack[30], -0.3);
  EXPECT_GT(study.attack_norm[30], 100 * study.honest_norm[30]);
  EXPECT_EQ(result.byzantine_selected, 0.0);  // krum selects none of these rows
}

}  // namespace
}  // namespace ostraka::compare::server_run_test
