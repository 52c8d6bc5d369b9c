#include "sim/compare/cells/runner.h"

#include <gtest/gtest.h>

#include "node/train/digits.h"
#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::runner_test {
namespace {

TEST(DrawSeed, DependsOnTheSeedAndNotOnTheRule) {
  Cell a;
  Cell b;
  b.rule.pipeline = "median";
  b.attack = "alie";
  EXPECT_EQ(DrawSeed(a, "batch", 3, 4), DrawSeed(b, "batch", 3, 4));
  b.seed = 1;
  EXPECT_NE(DrawSeed(a, "batch", 3, 4), DrawSeed(b, "batch", 3, 4));
  EXPECT_NE(DrawSeed(a, "batch", 3, 4), DrawSeed(a, "batch", 4, 3));
  EXPECT_NE(DrawSeed(a, "batch"), DrawSeed(a, "initial"));
}

// Whatever ran before: cells share only trainers and data.
TEST(CellRunner, ResultIsAFunctionOfTheCell) {
  const Plan plan = MadeUpPlan([](Grid& grid) {
    grid.rules = {"median", "centered_clip:variant=steps", "btard"};
    grid.model = {"softmax", "mlp"};
    grid.attacks = {"alie", "random_direction"};
    grid.seeds = {3};
    grid.steps = 15;
  });
  CellRunner forward(plan.sources);
  CellRunner backward(plan.sources);
  std::vector<CellResult> results(plan.cells.size());
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    results[i] = forward.Run(plan.cells[i], nullptr).value();
  }
  for (std::size_t i = plan.cells.size(); i-- > 0;) {
    EXPECT_EQ(backward.Run(plan.cells[i], nullptr).value(), results[i]) << i;
  }
}

TEST(CellRunner, DataThatChangedAreRefused) {
  const Plan plan = MadeUpPlan([](Grid&) {});
  Cell cell = plan.cells[0];
  cell.data_hash.bytes[0] ^= 1;
  EXPECT_EQ(CellRunner(plan.sources).Run(cell, nullptr).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ostraka::compare::runner_test
