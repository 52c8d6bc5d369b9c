#include "node/base/tensor_layout.h"

#include <gtest/gtest.h>

namespace ostraka::base::tensor_layout_test {
namespace {

TEST(TensorLayout, CountsElementsOfEachShape) {
  EXPECT_EQ((TensorSpec{"scalar", {}}).element_count(), 1U);
  EXPECT_EQ((TensorSpec{"vector", {7}}).element_count(), 7U);
  EXPECT_EQ((TensorSpec{"matrix", {64, 10}}).element_count(), 640U);
  EXPECT_EQ((TensorSpec{"empty", {3, 0, 5}}).element_count(), 0U);
}

TEST(TensorLayout, CountsInSixtyFourBits) {
  EXPECT_EQ((TensorSpec{"large", {1ULL << 20, 1ULL << 20}}).element_count(), 1ULL << 40);
}

TEST(TensorLayout, SumsItsTensors) {
  EXPECT_EQ(ElementCount({}), 0U);
  EXPECT_EQ(ElementCount({{"weight", {64, 10}}, {"bias", {10}}, {"scale", {}}}), 651U);
}

TEST(TensorLayout, ComparesNamesAndShapes) {
  const TensorSpec weight{"weight", {2, 3}};
  EXPECT_EQ(weight, (TensorSpec{"weight", {2, 3}}));
  EXPECT_NE(weight, (TensorSpec{"weight", {3, 2}}));
  EXPECT_NE(weight, (TensorSpec{"bias", {2, 3}}));
}

}  // namespace
}  // namespace ostraka::base::tensor_layout_test
