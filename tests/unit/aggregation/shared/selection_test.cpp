#include "aggregation/shared/selection.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::selection_test {
namespace {

TEST(Selection, OfEqualKeysTheLowerIndexIsTaken) {
  const std::vector<double> keys = {2, 1, 2, 1, 1};
  EXPECT_EQ(Smallest(keys, 2), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(Smallest(keys, 4), (std::vector<std::size_t>{0, 1, 3, 4}));
  EXPECT_TRUE(Smallest(keys, 0).empty());
}

TEST(Selection, TheMedianOfAnEvenNumberIsHalfway) {
  EXPECT_EQ(MedianOf({3}), 3);
  EXPECT_EQ(MedianOf({5, 1}), 3);
  EXPECT_EQ(MedianOf({9, 1, 2}), 2);
}

// A single row has no distance that could show what is wrong with it.
TEST(Selection, SingleRowIsCheckedToo) {
  const testing::Matrix rows = {{1, std::numeric_limits<float>::infinity()}};
  EXPECT_FALSE(SquaredDistancesOf(testing::RowsOf(rows), SerialExecutor()).ok());
}

// The largest floats: squares of their differences fit a double.
TEST(Selection, DistancesBetweenTheLargestFloatsAreFinite) {
  const float largest = std::numeric_limits<float>::max();
  const testing::Matrix rows = {std::vector<float>(500, largest),
                                std::vector<float>(500, -largest)};
  const auto squares = SquaredDistancesOf(testing::RowsOf(rows), SerialExecutor());
  ASSERT_TRUE(squares.ok());
  EXPECT_NEAR((*squares)(0, 1) / (4.0 * 500 * largest * static_cast<double>(largest)), 1, 1e-12);
}

}  // namespace
}  // namespace ostraka::aggregation::selection_test
