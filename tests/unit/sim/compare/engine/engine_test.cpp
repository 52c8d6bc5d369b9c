#include "sim/compare/engine/engine.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/sim/compare/made_up.h"

namespace ostraka::compare::engine_test {
namespace {

TEST(Engine, ShardsAreDisjointAndCoverAllCells) {
  const Plan plan = MadeUpPlan([](Grid& grid) { grid.rules = {"mean", "median", "krum"}; });
  for (const std::size_t count : {1u, 2u, 5u, 100u}) {
    std::set<const Cell*> all;
    for (std::size_t index = 1; index <= count; ++index) {
      for (const Cell* cell : CellsOf(plan, {index, count})) {
        EXPECT_TRUE(all.insert(cell).second);
      }
    }
    EXPECT_EQ(all.size(), plan.cells.size()) << count;
  }
}

TEST(Engine, DiskNeedGrowsWithTheResults) {
  const Plan small = MadeUpPlan([](Grid&) {});
  const Plan study = MadeUpPlan([](Grid& grid) { grid.study = true; });
  EXPECT_GT(DiskNeed(small, 100), DiskNeed(small, 10));
  EXPECT_GT(DiskNeed(study, 100), DiskNeed(small, 100));
}

}  // namespace
}  // namespace ostraka::compare::engine_test
