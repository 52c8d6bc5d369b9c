#include "sim/compare/plan/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ostraka::compare::grid_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Grid Small() {
  Grid grid;
  grid.peers = {9};
  grid.byzantine = {1, 2};
  grid.rules = {"mean", "median"};
  grid.attacks = {"none", "alie"};
  grid.seeds = {0, 1, 2};
  return grid;
}

std::vector<std::string> PipelinesOf(const std::string& text) {
  const auto rules = ExpandRule(text);
  std::vector<std::string> pipelines;
  for (const RuleText& rule : rules.value_or(std::vector<RuleText>())) {
    EXPECT_EQ(rule.family, text);
    pipelines.push_back(rule.pipeline);
  }
  return pipelines;
}

TEST(ExpandRule, TakesEveryAlternative) {
  EXPECT_THAT(PipelinesOf("mean"), ElementsAre("mean"));
  EXPECT_THAT(PipelinesOf("centered_clip:tau=0.1|1+nnm"),
              ElementsAre("centered_clip:tau=0.1+nnm", "centered_clip:tau=1+nnm"));
  EXPECT_THAT(PipelinesOf("krum:variant=paper|byzfl+clipping:c=1|2"),
              ElementsAre("krum:variant=paper+clipping:c=1", "krum:variant=paper+clipping:c=2",
                          "krum:variant=byzfl+clipping:c=1", "krum:variant=byzfl+clipping:c=2"));
  EXPECT_FALSE(ExpandRule("centered_clip:tau=0.1||1").ok());
  EXPECT_FALSE(ExpandRule("centered_clip:tau=1|").ok());
}

TEST(MakePlan, IsTheProductInOrder) {
  const auto plan = MakePlan(Small());
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->cells.size(), 2u * 2 * 2 * 3);
  std::set<base::Digest> ids;
  for (const Cell& cell : plan->cells) {
    EXPECT_EQ(cell.tolerate, cell.byzantine);
    EXPECT_FALSE(cell.data_hash.is_zero());
    EXPECT_TRUE(ids.insert(IdOf(cell)).second);
  }
  EXPECT_EQ(plan->cells[0].seed, 0u);
  EXPECT_EQ(plan->cells[1].seed, 1u);
  EXPECT_EQ(plan->cells[3].attack, "alie");
  EXPECT_EQ(plan->cells[6].rule.pipeline, "median");
  EXPECT_EQ(plan->cells[12].byzantine, 2u);
}

TEST(MakePlan, ProtocolIsLeftOutWhereItCannotRun) {
  Grid grid = Small();
  grid.rules = {"mean", "btard"};
  grid.partition = {"shared", "extreme"};
  grid.byzantine = {1};
  const auto plan = MakePlan(grid);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->cells.size(), 6u * 2 + 6);
  ASSERT_EQ(plan->left_out.size(), 1u);
  EXPECT_THAT(plan->left_out[0], AllOf(HasSubstr("6 cells"), HasSubstr("shared only")));
  grid.rules = {"btard"};
  grid.schedule = {"cosine"};
  EXPECT_THAT(base::MessageOf(MakePlan(grid).status()),
              HasSubstr("every combination was left out"));
}

// One line each, before any cell runs.
TEST(MakePlan, ErrorsNameTheProblem) {
  const auto error = [](auto change) {
    Grid grid = Small();
    change(grid);
    const auto plan = MakePlan(grid);
    EXPECT_FALSE(plan.ok());
    const std::string message = base::MessageOf(plan.status());
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    return message;
  };
  EXPECT_THAT(error([](Grid& g) { g.rules = {"krumm"}; }), HasSubstr("did you mean 'krum'?"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"btrad"}; }), HasSubstr("did you mean 'btard'?"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"mean+nmn"}; }), HasSubstr("nnm"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"krum"}, g.byzantine = {4}; }),
              AllOf(HasSubstr("krum needs n >= 2f + 3"), HasSubstr("f = 4")));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"centered_clip:tua=1"}; }), HasSubstr("tau"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"btard"}, g.byzantine = {5}; }),
              HasSubstr("bears 3 faulty of 9"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"btard"}, g.steps = 5; }), HasSubstr("more than 5"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"btard+nnm"}; }), HasSubstr("no pre-aggregation"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {}; }), HasSubstr("no rules"));
  EXPECT_THAT(error([](Grid& g) { g.rules = {"mean", "mean"}; }), HasSubstr("listed twice"));
  EXPECT_THAT(error([](Grid& g) { g.attacks = {"alei"}; }), HasSubstr("did you mean 'alie'?"));
  EXPECT_THAT(error([](Grid& g) { g.attacks = {"wrong_length"}; }), HasSubstr("leave it out"));
  EXPECT_THAT(error([](Grid& g) { g.data = {"digit"}; }), HasSubstr("unknown data 'digit'"));
  EXPECT_THAT(error([](Grid& g) { g.data = {"mnist:/nonexistent"}; }),
              HasSubstr("/nonexistent does not exist"));
  EXPECT_THAT(error([](Grid& g) { g.data = {"digits", "digits"}; }), HasSubstr("named twice"));
  EXPECT_THAT(error([](Grid& g) { g.data = {"toy"}; }), HasSubstr("no images"));
  EXPECT_THAT(error([](Grid& g) { g.model = {"mpl"}; }), HasSubstr("unknown model 'mpl'"));
  EXPECT_THAT(error([](Grid& g) { g.byzantine = {9}; }), HasSubstr("no honest worker"));
  EXPECT_THAT(error([](Grid& g) { g.batch_size = 2000; }), HasSubstr("more than the 1302"));
  EXPECT_THAT(error([](Grid& g) { g.partition = {"sharde"}; }),
              HasSubstr("did you mean 'shared'?"));
  EXPECT_THAT(error([](Grid& g) { g.schedule = {"linaer"}; }), HasSubstr("did you mean 'linear'?"));
  EXPECT_THAT(error([](Grid& g) { g.momentum = {1}; }), HasSubstr("momentum must be in [0, 1)"));
  EXPECT_THAT(error([](Grid& g) { g.attack_from = 100; }), HasSubstr("attack_from"));
  EXPECT_THAT(error([](Grid& g) { g.steps = 1; }), HasSubstr("steps must be 2"));
}

}  // namespace
}  // namespace ostraka::compare::grid_test
