#include "aggregation/attacks/attack_mimic.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::attack_mimic_test {
namespace {

using testing::Matrix;
using testing::RowsOf;

TEST(Mimic, CopiesTheWorkerThatWasNamed) {
  const Matrix honest = {{1, 2}, {3, 4}, {5, 6}};
  AttackState state;
  for (std::uint64_t worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(Mimic(RowsOf(honest), {}, {worker, 0}, 1, state), honest[worker]);
  }
  EXPECT_EQ(Mimic(RowsOf(honest), {}, {7, 0}, 1, state), honest[0]) << "there are only three";
}

TEST(Mimic, FollowsIdentitiesNotRowIndices) {
  const Matrix honest = {{1, 2}, {3, 4}, {5, 6}};
  const std::vector<std::uint64_t> ids = {900, 20, 500};
  AttackState state;
  EXPECT_EQ(Mimic(RowsOf(honest), ids, {500, 0}, 1, state), honest[2]);
  EXPECT_EQ(Mimic(RowsOf(honest), ids, {600, 0}, 1, state), honest[0]) << "the next by identity";
  EXPECT_EQ(Mimic(RowsOf(honest), ids, {901, 0}, 1, state), honest[1]) << "and around";
}

// Workers 0 to 4 differ by noise; worker 5's data are another distribution.
TEST(Mimic, LearnsWhichWorkerToCopy) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    base::Rng rng(seed);
    AttackState state;
    constexpr std::uint64_t kWarmUp = 20;
    for (std::uint64_t step = 0; step < 30; ++step) {
      Matrix honest = testing::NormalRows(rng, 6, 50);
      for (std::size_t c = 0; c < 25; ++c) honest[5][c] += 3;
      const auto sent = Mimic(RowsOf(honest), {}, {0, kWarmUp}, seed, state);
      EXPECT_EQ(sent, honest[step + 1 < kWarmUp ? 0 : 5]) << seed << " " << step;
    }
    EXPECT_EQ(state.steps, kWarmUp) << "nothing more is learnt";
    EXPECT_EQ(state.projections.size(), 6u);
  }
}

TEST(Mimic, CopiedStateGivesEqualResults) {
  base::Rng rng(3);
  const Matrix one = testing::NormalRows(rng, 4, 10);
  const Matrix two = testing::NormalRows(rng, 4, 10);
  AttackState first;
  Mimic(RowsOf(one), {}, {0, 2}, 9, first);
  AttackState second = first;
  EXPECT_EQ(Mimic(RowsOf(two), {}, {0, 2}, 9, first), Mimic(RowsOf(two), {}, {0, 2}, 9, second));
  EXPECT_EQ(first.direction, second.direction);
  EXPECT_EQ(first.projections, second.projections);
}

}  // namespace
}  // namespace ostraka::aggregation::attack_mimic_test
