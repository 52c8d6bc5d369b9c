#include "aggregation/kernels/natural_log.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ostraka::aggregation::natural_log_test {
namespace {

TEST(NaturalLog, IsTheLogarithm) {
  for (const double x : {1e-300, 1e-5, 0.01, 0.5, 0.70710678, 0.7071068, 0.999999, 1.0, 1.0000001,
                         1.25, 1.4142135, 1.4142136, 2.0, 99.0, 125.0, 1e300}) {
    EXPECT_NEAR(NaturalLog(x), std::log(x), 1e-15 * (1 + std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(NaturalLog(1), 0);
}

}  // namespace
}  // namespace ostraka::aggregation::natural_log_test
