#include "sim/compare/report/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::selection_test {
namespace {

using testing::ElementsAre;

// Of two learning rates, validation prefers 0.1 and test 1.
Plan TwoRates() {
  return MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean"};
    grid.attacks = {"none", "alie"};
    grid.learning_rate = {0.1, 1};
  });
}
MadeUpScores ScoreTwoRates(const Cell& cell) {
  const bool slow = cell.learning_rate == 0.1;
  if (cell.attack == "none") return {.validation = 0.9, .test = 0.9};
  return {.validation = slow ? 0.8 : 0.7, .test = slow ? 0.6 : 0.95};
}

TEST(Select, ChoosesOnValidationAndReportsTest) {
  const Plan plan = TwoRates();
  const Records records = MadeUpRecords(plan, ScoreTwoRates);
  const auto lines = Select(plan, DoneCells(plan, records));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].cell->learning_rate, 0.1);
  EXPECT_EQ(lines[0].choices, 2u);
  EXPECT_TRUE(lines[0].complete);
  EXPECT_DOUBLE_EQ(lines[0].validation_worst, 0.8);
  EXPECT_DOUBLE_EQ(lines[0].worst.mean, 0.6);
  EXPECT_EQ(lines[0].worst_attack, "alie");
}

// Detects leakage: no value of a test accuracy may change the choice.
TEST(Select, TestAccuraciesDoNotChoose) {
  const Plan plan = TwoRates();
  for (const double test : {0.0, 0.5, 1.0}) {
    const Records records = MadeUpRecords(plan, [test](const Cell& cell) {
      MadeUpScores scores = ScoreTwoRates(cell);
      if (cell.learning_rate == 1) scores.test = test;
      return scores;
    });
    const auto lines = Select(plan, DoneCells(plan, records));
    EXPECT_EQ(lines[0].cell->learning_rate, 0.1) << test;
  }
}

TEST(Select, TheChoiceIsByTheWorstAttackAndNotByTheMean) {
  const Plan plan = TwoRates();
  const Records records = MadeUpRecords(plan, [](const Cell& cell) {
    if (cell.learning_rate == 0.1) return MadeUpScores{.validation = 0.6, .test = 0.6};
    return MadeUpScores{.validation = cell.attack == "none" ? 1.0 : 0.5, .test = 0.9};
  });
  EXPECT_EQ(Select(plan, DoneCells(plan, records))[0].cell->learning_rate, 0.1);
}

TEST(Select, TheOptimisticFigureIsTheBestStepOnTest) {
  const Plan plan = MadeUpPlan([](Grid& grid) { grid.attacks = {"alie"}; });
  const Records records = MadeUpRecords(
      plan, [](const Cell&) { return MadeUpScores{.validation = 0.5, .test = 0.4, .best = 0.8}; });
  const auto lines = Select(plan, DoneCells(plan, records));
  EXPECT_DOUBLE_EQ(lines[0].worst.mean, 0.4);
  EXPECT_DOUBLE_EQ(lines[0].optimistic_worst, 0.8);
}

TEST(Select, AnIncompleteLineSaysSo) {
  const Plan plan = TwoRates();
  Records records = MadeUpRecords(plan, ScoreTwoRates);
  records.erase(IdOf(plan.cells.back()));
  EXPECT_FALSE(Select(plan, DoneCells(plan, records))[0].complete);
  EXPECT_TRUE(Select(plan, DoneCells(plan, {})).empty());
}

// Its worst attack may be among those not run yet.
TEST(Winners, LineWithMissingCellsIsNotBestAtItsWorst) {
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.attacks = {"none", "alie"};
  });
  Records records = MadeUpRecords(plan, [](const Cell& cell) {
    const double test = cell.rule.family == "median" ? 0.9 : 0.8;
    return MadeUpScores{.validation = 0.9, .test = cell.attack == "none" ? test : test - 0.3};
  });
  const auto winner = [&] {
    const auto lines = Select(plan, DoneCells(plan, records));
    const Winner best = BestAtWorst({&lines[0], &lines[1]});
    EXPECT_TRUE(best.ties.empty());
    return best.line->cell->rule.family;
  };
  EXPECT_EQ(winner(), "median");
  for (const Cell& cell : plan.cells) {
    if (cell.rule.family == "median" && cell.attack == "none") records.erase(IdOf(cell));
  }
  EXPECT_EQ(winner(), "mean");
  for (const Cell& cell : plan.cells) {
    if (cell.rule.family == "mean" && cell.attack == "none") records.erase(IdOf(cell));
  }
  EXPECT_EQ(winner(), "median");
}

TEST(Winners, NameTheBestAndItsTies) {
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean", "median", "krum"};
    grid.attacks = {"none", "alie"};
  });
  const Records records = MadeUpRecords(plan, [](const Cell& cell) {
    const double noise = 0.01 * static_cast<double>(cell.seed % 2);
    if (cell.rule.family == "mean")
      return MadeUpScores{.validation = 0.9, .test = cell.attack == "none" ? 0.95 + noise : 0.1};
    // Krum is sometimes above and sometimes below the median.
    if (cell.rule.family == "krum")
      return MadeUpScores{.validation = 0.9, .test = 0.905 + noise * -0.9};
    return MadeUpScores{.validation = 0.9, .test = 0.9 + noise};
  });
  const auto lines = Select(plan, DoneCells(plan, records));
  const std::vector<const Line*> all = {&lines[0], &lines[1], &lines[2]};
  const Winner none = BestUnder(all, "none");
  EXPECT_EQ(none.line->cell->rule.family, "mean");
  EXPECT_THAT(none.ties, ElementsAre());
  const Winner alie = BestUnder(all, "alie");
  EXPECT_NE(alie.line->cell->rule.family, "mean");
  EXPECT_EQ(alie.ties.size(), 1u);
  const Winner worst = BestAtWorst(all);
  EXPECT_NE(worst.line->cell->rule.family, "mean");
  EXPECT_EQ(worst.ties.size(), 1u);
}

}  // namespace
}  // namespace ostraka::compare::selection_test
