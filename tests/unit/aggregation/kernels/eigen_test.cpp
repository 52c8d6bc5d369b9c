#include "aggregation/kernels/eigen.h"

#include <gtest/gtest.h>

#include "tests/unit/aggregation/references.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::eigen_test {
namespace {

std::vector<double> RandomSymmetric(base::Rng& rng, std::size_t n) {
  std::vector<double> matrix(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = rng.Normal();
  }
  return matrix;
}

TEST(Eigen, LargestSolvesItsEquationAndBoundsAllQuotients) {
  base::Rng rng(1);
  for (std::size_t n = 1; n <= 24; ++n) {
    const std::vector<double> a = RandomSymmetric(rng, n);
    const TopEigen top = LargestEigen(n, a);
    const auto times = [&](const std::vector<double>& v) {
      std::vector<double> product(n, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) product[i] += a[i * n + j] * v[j];
      }
      return product;
    };
    const std::vector<double> product = times(top.vector);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(product[i], top.value * top.vector[i], 1e-12);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> v(n);
      for (double& value : v) value = rng.Normal();
      double above = 0, below = 0;
      const std::vector<double> image = times(v);
      for (std::size_t i = 0; i < n; ++i) {
        above += v[i] * image[i];
        below += v[i] * v[i];
      }
      EXPECT_LE(above / below, top.value + 1e-12);
    }
    EXPECT_TRUE(AllEigenvaluesBelow(n, a, top.value + 1e-9));
    EXPECT_FALSE(AllEigenvaluesBelow(n, a, top.value - 1e-9));
  }
}

TEST(Eigen, OfAZeroMatrixIsZero) {
  EXPECT_EQ(LargestEigen(3, std::vector<double>(9, 0.0)).value, 0);
}

}  // namespace
}  // namespace ostraka::aggregation::eigen_test
