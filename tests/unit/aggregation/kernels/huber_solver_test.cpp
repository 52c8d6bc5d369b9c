#include "aggregation/kernels/huber_solver.h"

#include <gtest/gtest.h>

#include "aggregation/kernels/simd.h"
#include "tests/unit/aggregation/testing.h"

namespace ostraka::aggregation::huber_solver_test {
namespace {

// Packed <row_i - row_0, row_j - row_0>.
std::vector<double> GramAboutFirst(const testing::Matrix& rows) {
  std::vector<double> gram;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double inner = 0;
      for (std::size_t c = 0; c < rows[0].size(); ++c) {
        inner += (double{rows[i][c]} - rows[0][c]) * (double{rows[j][c]} - rows[0][c]);
      }
      gram.push_back(inner);
    }
  }
  return gram;
}

std::vector<double> PointOf(const testing::Matrix& rows, const HuberSolution<double>& solution) {
  std::vector<double> point(rows[0].begin(), rows[0].end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < point.size(); ++c) {
      point[c] += solution.coefficients[i] * (double{rows[i][c]} - rows[0][c]);
    }
  }
  return point;
}

TEST(HuberSolver, ReachesTheToleranceThatItReports) {
  base::Rng rng(1);
  for (const double tau : {0.01, 0.3, 2.0, 100.0}) {
    for (const std::size_t n : {1u, 2u, 3u, 8u, 33u}) {
      const testing::Matrix rows = testing::NormalRows(rng, n, 20);
      const auto gram = GramAboutFirst(rows);
      const HuberSolution<double> solution = SolveHuber(HuberProblem<double>{n, gram, tau, 1e-10});
      EXPECT_LE(solution.residual, 1e-10);
      const auto point = PointOf(rows, solution);
      EXPECT_LE(testing::SlowResidual(rows, point, tau), 2e-10L) << "n " << n << " tau " << tau;
      for (std::size_t i = 0; i < n; ++i) {
        const auto distance = static_cast<double>(testing::SlowDistance(rows[i], point));
        EXPECT_NEAR(solution.weights[i], std::min(1.0, tau / distance), 1e-9);
      }
    }
  }
}

TEST(HuberSolver, UnclippedIsTheMeanInOneStep) {
  const std::vector<double> gram = {0, 0, 4, 0, 0, 9};  // 0, (2, 0) and (0, 3)
  const HuberSolution<double> solution = SolveHuber(HuberProblem<double>{3, gram, 100, 1e-12});
  for (const double a : solution.coefficients) EXPECT_NEAR(a, 1.0 / 3, 1e-15);
  EXPECT_LE(solution.iterations, 2u);
}

// Three points on a line, all clipped: Newton's matrix is singular, the answer is the middle one.
TEST(HuberSolver, LineOfPointsGivesTheMedian) {
  const testing::Matrix rows = {{0.0f}, {1.0f}, {10.0f}};
  const auto gram = GramAboutFirst(rows);
  const HuberSolution<double> solution = SolveHuber(HuberProblem<double>{3, gram, 1e-3, 1e-12});
  EXPECT_NEAR(PointOf(rows, solution)[0], 1.0, 1e-9);
  EXPECT_LE(solution.iterations, 40u);
}

TEST(HuberSolver, TinyTauNeedsFewSteps) {
  base::Rng rng(9);
  const testing::Matrix rows = testing::NormalRows(rng, 16, 50);
  const auto gram = GramAboutFirst(rows);
  const HuberSolution<double> solution = SolveHuber(HuberProblem<double>{16, gram, 0x1p-10, 1e-11});
  EXPECT_LE(solution.residual, 1e-11);
  EXPECT_LE(solution.iterations, 60u);
}

TEST(HuberSolver, ImpossibleToleranceStillEnds) {
  base::Rng rng(10);
  const testing::Matrix rows = testing::NormalRows(rng, 9, 5);
  const auto gram = GramAboutFirst(rows);
  const HuberSolution<double> solution = SolveHuber(HuberProblem<double>{9, gram, 0.5, 0});
  EXPECT_LE(solution.residual, 1e-12);  // as far as double goes
  EXPECT_LE(solution.iterations, 5000u);
}

}  // namespace
}  // namespace ostraka::aggregation::huber_solver_test
