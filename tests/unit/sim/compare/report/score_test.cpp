#include "sim/compare/report/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/compare/report/selection.h"
#include "sim/compare/report/tables.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::score_test {
namespace {

TEST(Score, ALossThatIsNoNumberCountsAsTheMost) {
  Point point;
  point.test_loss = std::nan("");
  EXPECT_EQ(TestScore(Score::kLoss, point), kMostLoss);
  point.test_loss = 1e30;
  EXPECT_EQ(TestScore(Score::kLoss, point), kMostLoss);
  point.test_loss = 1.5;
  EXPECT_EQ(TestScore(Score::kLoss, point), 1.5);
}

TEST(Score, TheWorstIntervalOfLossesIsTheMirrorOfThatOfAccuracies) {
  const std::vector<std::vector<double>> values = {{1, 1.2, 1.1}, {3, 2.9, 3.1}};
  const Interval worst = WorstInterval(Score::kLoss, values);
  EXPECT_DOUBLE_EQ(worst.mean, 3);
  EXPECT_LT(worst.low, 3);
  EXPECT_GT(worst.high, 3);
  EXPECT_DOUBLE_EQ(WorstInterval(Score::kAccuracy, values).mean, 1.1);
}

TEST(Score, Texts) {
  EXPECT_EQ(ScoreText(Score::kAccuracy, 0.924), "92.4");
  EXPECT_EQ(ScoreText(Score::kLoss, 1.9734), "1.973");
  EXPECT_EQ(ShadeOf(Score::kLoss, 2, 2), 1);
  EXPECT_EQ(ShadeOf(Score::kLoss, 4, 2), 0);
  EXPECT_EQ(ShadeOf(Score::kLoss, 99, 2), 0);
}

// Two rules and two rates, whose losses and accuracies say the opposite.
TEST(Score, ALossRanksByTheLowest) {
  Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"mean", "median"};
    grid.attacks = {"none", "alie"};
    grid.learning_rate = {0.1, 1};
    grid.score = "loss";
  });
  Records records = MadeUpRecords(plan, [](const Cell&) { return MadeUpScores{.test = 0.5}; });
  for (const Cell& cell : plan.cells) {
    Point& last = records.at(IdOf(cell)).result->curve.back();
    const double loss = (cell.rule.family == "median" ? 1 : 2) + (cell.attack == "alie" ? 0.5 : 0) +
                        (cell.learning_rate == 1 ? 0.25 : 0) + 1e-3 * cell.seed;
    last.validation_loss = last.test_loss = loss;
    last.validation_accuracy = last.test_accuracy = loss / 10;
  }
  const auto lines = Select(plan, DoneCells(plan, records));
  ASSERT_EQ(lines.size(), 2u);
  for (const Line& line : lines) {
    EXPECT_EQ(line.cell->learning_rate, 0.1);
    EXPECT_EQ(line.worst_attack, "alie");
  }
  EXPECT_NEAR(lines[0].worst.mean, 2.5, 0.01);
  EXPECT_NEAR(lines[1].worst.mean, 1.5, 0.01);
  const std::vector<const Line*> both = {&lines[0], &lines[1]};
  EXPECT_EQ(BestAtWorst(both).line->cell->rule.family, "median");
  EXPECT_TRUE(BestAtWorst(both).ties.empty());
  EXPECT_EQ(BestUnder(both, "none").line->cell->rule.family, "median");
  const std::string text = TextTable(lines);
  EXPECT_NE(text.find("test loss in nats"), std::string::npos) << text;
  EXPECT_NE(text.find("1.50"), std::string::npos) << text;
}

}  // namespace
}  // namespace ostraka::compare::score_test
