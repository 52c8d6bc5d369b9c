#include "aggregation/kernels/normal_quantile.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ostraka::aggregation::normal_quantile_test {
namespace {

TEST(NormalCdf, AgreesWithTheErrorFunction) {
  for (int i = -600; i <= 600; ++i) {
    const double x = i / 100.0;
    EXPECT_NEAR(NormalCdf(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 2e-15) << x;
  }
}

TEST(NormalQuantile, KnowsTheTables) {
  EXPECT_EQ(NormalQuantile(0.5), 0.0);
  EXPECT_NEAR(NormalQuantile(0.75), 0.67448975019608174, 1e-14);
  EXPECT_NEAR(NormalQuantile(0.975), 1.95996398454005423, 1e-13);
  EXPECT_NEAR(NormalQuantile(0.9999), 3.71901648545567999, 1e-11);
}

TEST(NormalQuantile, InvertsTheDistributionAndIsOdd) {
  for (int i = 1; i < 1000; ++i) {
    const double p = i / 1000.0;
    EXPECT_NEAR(NormalCdf(NormalQuantile(p)), p, 1e-15);
    EXPECT_NEAR(NormalQuantile(1 - p), -NormalQuantile(p), 1e-12);
  }
}

TEST(NormalQuantile, EndsAreLimited) {
  EXPECT_NEAR(NormalQuantile(0), -6, 1e-9);
  EXPECT_NEAR(NormalQuantile(1), 6, 1e-9);
}

}  // namespace
}  // namespace ostraka::aggregation::normal_quantile_test
