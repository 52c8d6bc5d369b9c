#include "node/host/report/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ostraka::host::curve_test {
namespace {

CurvePoint At(std::uint64_t step) { return {step, 1.0 / static_cast<double>(step + 1), 0.5}; }

TEST(CurveTest, KeepsAShortRunWhole) {
  Curve curve;
  EXPECT_TRUE(curve.empty());
  EXPECT_TRUE(curve.Points().empty());
  for (std::uint64_t step = 9; step < 100; step += 10) curve.Add(At(step));
  const std::vector<CurvePoint> points = curve.Points();
  ASSERT_EQ(points.size(), 10u);
  EXPECT_EQ(points.front(), At(9));
  EXPECT_EQ(points.back(), At(99));
}

TEST(CurveTest, KeepsTheFirstAndTheNewestOfALongRunInBoundedMemory) {
  Curve curve;
  for (std::uint64_t step = 0; step < 100'000; ++step) {
    curve.Add(At(step));
    const std::vector<CurvePoint> points = curve.Points();
    ASSERT_LE(points.size(), Curve::kMostPoints) << step;
    ASSERT_EQ(points.front().step, 0u);
    ASSERT_EQ(points.back(), At(step));
  }
  EXPECT_GE(curve.Points().size(), Curve::kMostPoints / 2);
}

TEST(CurveTest, ThinsEvenly) {
  Curve curve;
  for (std::uint64_t step = 0; step < 2000; ++step) curve.Add(At(step));
  const std::vector<CurvePoint> points = curve.Points();
  const std::uint64_t stride = points[1].step - points[0].step;
  EXPECT_EQ(stride, 4u);
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    EXPECT_EQ(points[i].step - points[i - 1].step, stride) << i;
  }
}

TEST(CurveTest, IgnoresAStepThatIsNotNew) {
  Curve curve;
  curve.Add(At(20));
  curve.Add({20, 7, 7});
  curve.Add({10, 7, 7});
  ASSERT_EQ(curve.Points().size(), 1u);
  EXPECT_EQ(curve.Points().front(), At(20));
}

TEST(CurveTest, KeepsALossThatIsNoNumber) {
  Curve curve;
  curve.Add({1, std::numeric_limits<double>::quiet_NaN(), 0});
  EXPECT_TRUE(std::isnan(curve.Points().back().loss));
}

}  // namespace
}  // namespace ostraka::host::curve_test
