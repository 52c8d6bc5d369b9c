#include "aggregation/shared/subset_search.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::subset_search_test {
namespace {

using testing::Indices;
using testing::Matrix;

SymmetricMatrix SquaresOf(const Matrix& rows) {
  return SquaredDistancesOf(testing::RowsOf(rows), SerialExecutor()).value();
}

// Points on a coarse grid: many equal distances, so that only the first subset in order is right.
TEST(SubsetSearch, FindsTheFirstOfManyEqualDiameters) {
  base::Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t n = 1 + rng.Below(9);
    const std::size_t size = n - rng.Below((n - 1) / 2 + 1);
    Matrix rows(n, std::vector<float>(2));
    for (auto& row : rows) {
      for (float& value : row) value = static_cast<float>(rng.Below(3));
    }
    Indices best;
    long double least = 0;
    for (const Indices& subset : testing::SubsetsOf(n, size)) {
      const long double diameter = testing::DiameterOf(rows, subset);
      if (!best.empty() && diameter >= least) continue;
      best = subset;
      least = diameter;
    }
    EXPECT_EQ(LeastDiameterSubset(SquaresOf(rows), size).value(), best);
  }
}

// 64 rows, 12 of them far from the rest and from each other: 3e12 subsets, which the search does
// not enumerate.
TEST(SubsetSearch, IsFastWhereEnumerationIsInfeasible) {
  base::Rng rng(2);
  Matrix rows = testing::NormalRows(rng, 64, 30);
  Indices honest;
  for (std::size_t i = 0; i < 64; ++i) {
    if (i % 5 == 0 && i < 60) {
      testing::Multiply(rows[i], 50);
    } else {
      honest.push_back(i);
    }
  }
  EXPECT_EQ(LeastDiameterSubset(SquaresOf(rows), 52).value(), honest);
}

TEST(SubsetSearch, EqualRowsHaveNoVariance) {
  const Matrix rows(5, std::vector<float>{1, 2});
  const auto best = LeastVarianceSubset(SquaresOf(rows), 3);
  ASSERT_TRUE(best.ok());
  EXPECT_EQ(best->rows, (Indices{0, 1, 2}));
  EXPECT_EQ(best->largest_eigenvalue, 0);
}

}  // namespace
}  // namespace ostraka::aggregation::subset_search_test
