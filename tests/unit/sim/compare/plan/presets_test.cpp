#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "sim/compare/plan/grid_toml.h"

namespace ostraka::compare::presets_test {
namespace {

Plan PlanOfPreset(const char* name) {
  const auto plan = MakePlan(*ParseGrid(*PresetText(name)));
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  return plan.value_or(Plan());
}

TEST(Presets, SmokeIsSmall) { EXPECT_LT(PlanOfPreset("smoke").cells.size(), 200u); }

// 2 models x 8 attacks x 7 rules x {3, 7} Byzantine x 5 seeds, nothing left out.
TEST(Presets, Btard2022IsComplete) {
  const Plan plan = PlanOfPreset("btard-2022");
  EXPECT_EQ(plan.cells.size(), 1120u);
  EXPECT_TRUE(plan.left_out.empty());
  for (const Cell& cell : plan.cells) {
    EXPECT_EQ(cell.peers, 16u);
    EXPECT_EQ(cell.batch_size, 8u);
    EXPECT_EQ(cell.steps, 600u);
    EXPECT_EQ(cell.learning_rate, 0.01);
    EXPECT_EQ(cell.momentum, 0.9);
    EXPECT_EQ(cell.weight_decay, 5e-4);
  }
}

TEST(Presets, ByzflMnistNeedsFiles) {
  auto grid = ParseGrid(*PresetText("byzfl-mnist"));
  ASSERT_TRUE(grid.ok()) << grid.status().ToString();
  EXPECT_EQ(MakePlan(*grid).status().code(), absl::StatusCode::kNotFound);
  grid->data = {"digits"};  // so that nothing else is wrong with it
  const auto plan = MakePlan(*grid);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->cells.size(), 288u);
}

TEST(Presets, DilocoNeedsAText) {
  auto grid = ParseGrid(*PresetText("diloco"));
  ASSERT_TRUE(grid.ok()) << grid.status().ToString();
  EXPECT_EQ(MakePlan(*grid).status().code(), absl::StatusCode::kNotFound);
  std::string text;
  for (int line = 0; line < 500; ++line)
    text += "line " + std::to_string(line * line) + " of a book\n";
  const std::string path = testing::TempDir() + "/diloco_book.txt";
  std::ofstream(path) << text;
  grid->data = {"text:" + path};  // so that nothing else is wrong with it
  const auto plan = MakePlan(*grid);
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->cells.size(), 546u);
}

TEST(Presets, UnknownNameIsRefused) {
  EXPECT_THAT(base::MessageOf(PresetText("btard").status()), testing::HasSubstr("known:"));
}

}  // namespace
}  // namespace ostraka::compare::presets_test
