// The minimum of a sum of Huber functions of distances, in the coordinates of its own rows.
//
// Given the Gram matrix of D_1..D_n (rows less some center), finds coefficients a with
//   v = sum_i a_i D_i  near the minimum of  f(v) = sum_i H(|D_i - v|),
//   H(r) = r^2/2 for r <= tau, tau (r - tau/2) beyond,
// whose negative gradient is F(v) = sum_i w_i (D_i - v), w_i = min(1, tau/|D_i - v|). f is convex
// and its minimum lies in the rows' convex hull, so n coefficients suffice instead of d
// coordinates.
//
// Method: a fixed-point step a = w / sum(w), which never raises f (it minimises the quadratic that
// touches f from above at v: Weiszfeld's argument). After a warm-up it alternates with a Newton
// step with an exact line search, because f on a line needs only n numbers. The fixed-point step
// alone needs more than 10,000 rounds when tau is small against the rows' spread.
//
// Pure, deterministic arithmetic: + - * / sqrt, in Real = double or Wide. Internal to aggregation.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aggregation/kernels/wide.h"

namespace ostraka::aggregation {

template <typename Real>
struct HuberProblem {
  std::size_t count = 0;       // n
  std::span<const Real> gram;  // packed lower triangle (simd::TriangleIndex), all finite
  double tau = 1;
  double tolerance = 0;  // stop when |F| is at most this, or when rounding hides progress
};

template <typename Real>
struct HuberSolution {
  std::vector<Real> coefficients;  // a
  std::vector<Real> weights;       // w at v
  double residual = 0;             // |F(v)| as computed from the Gram matrix
  std::size_t iterations = 0;      // fixed-point plus Newton steps
};

// Starts at v = 0, the center. Always returns the best point found.
HuberSolution<double> SolveHuber(const HuberProblem<double>& problem);
HuberSolution<Wide> SolveHuber(const HuberProblem<Wide>& problem);

}  // namespace ostraka::aggregation
