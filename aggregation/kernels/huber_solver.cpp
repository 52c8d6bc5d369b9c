#include "aggregation/kernels/huber_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {
namespace {

// Fixed-point steps before the first Newton step; most inputs need no more.
constexpr std::size_t kWarmUp = 6;
// Iterations without a better residual after which the solver stops: rounding hides progress.
constexpr std::size_t kPatience = 40;
constexpr std::size_t kMaxIterations = 4000;
// Newton's matrix is singular where f is flat, or linear as on a line of points.
constexpr double kRegularisation = 1e-12;
constexpr int kLineSearchSteps = 60;

template <typename Real>
Real Weight(const Real& distance, double tau) {
  return distance <= Real(tau) ? Real(1.0) : Real(tau) / distance;
}

// Rounding can make a square negative; Sqrt treats it as zero.
template <typename Real>
class Solver {
 public:
  explicit Solver(const HuberProblem<Real>& problem)
      : n_(problem.count),
        tau_(problem.tau),
        gram_(n_ * n_),
        a_(n_, Real(0.0)),
        gram_a_(n_),
        distance_(n_),
        weight_(n_),
        view_(n_ * n_),
        newton_(n_ * n_),
        direction_(n_),
        step_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const Real value = problem.gram[simd::TriangleIndex(i, j)];
        gram_[i * n_ + j] = value;
        gram_[j * n_ + i] = value;
      }
    }
    Evaluate();
  }

  const std::vector<Real>& coefficients() const { return a_; }
  const std::vector<Real>& weights() const { return weight_; }

  // |F(v)|, plus a margin for rounding. F = sum_i (w_i - W a_i) D_i. After a fixed-point step these
  // coefficients are small near the solution, so their quadratic form loses less precision than
  // sum_ij w_i w_j <D_i - v, D_j - v> would.
  double Residual() const {
    Real squared = 0;
    Real magnitude = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      Real inner = 0;
      for (std::size_t j = 0; j < n_; ++j) inner += gram_[i * n_ + j] * Excess(j);
      squared += Excess(i) * inner;
      magnitude += Abs(Excess(i)) * Sqrt(gram_[i * n_ + i]);
    }
    const Real hidden = 2 * kRounding<Real> * static_cast<double>(n_) * magnitude * magnitude;
    return static_cast<double>(Sqrt(std::max(Real(0.0), squared) + hidden));
  }

  void FixedPointStep() {
    for (std::size_t i = 0; i < n_; ++i) a_[i] = weight_[i] / weight_sum_;
    Evaluate();
  }

  // Moves to the minimum of f on the Newton line. Does not move if rounding leaves no descent.
  void NewtonStep() {
    ViewFromHere();
    SolveNewton();
    const Real length = LineSearch();
    if (!(length > 0)) return;
    Real direction_sum = 0;
    for (const Real& b : direction_) direction_sum += b;
    for (std::size_t i = 0; i < n_; ++i) {
      a_[i] += length * (direction_[i] - direction_sum * a_[i]);
    }
    Evaluate();
  }

 private:
  Real Excess(std::size_t i) const { return weight_[i] - weight_sum_ * a_[i]; }

  // Distances and weights at v = sum_i a_i D_i.
  void Evaluate() {
    squared_v_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      Real inner = 0;
      for (std::size_t j = 0; j < n_; ++j) inner += gram_[i * n_ + j] * a_[j];
      gram_a_[i] = inner;
      squared_v_ += a_[i] * inner;
    }
    weight_sum_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const Real squared = gram_[i * n_ + i] - 2 * gram_a_[i] + squared_v_;
      distance_[i] = Sqrt(squared);
      weight_[i] = Weight(distance_[i], tau_);
      weight_sum_ += weight_[i];
    }
  }

  // view_ = Gram matrix of E_i = D_i - v.
  void ViewFromHere() {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        view_[i * n_ + j] = gram_[i * n_ + j] - gram_a_[i] - gram_a_[j] + squared_v_;
      }
    }
  }

  // The Hessian is W I - sum over clipped i of s_i E_i E_i^T, s_i = w_i / |E_i|^2, so the step
  // delta = H^-1 F lies in the span of the E_i: with t_i = sqrt(s_i) <E_i, delta>,
  //   (W I - S^1/2 E E^T S^1/2) t = S^1/2 E F,   delta = sum_i (w_i + sqrt(s_i) t_i) / W E_i.
  void SolveNewton() {
    for (std::size_t i = 0; i < n_; ++i) {
      const bool clipped = distance_[i] > tau_;
      step_[i] = clipped ? Sqrt(weight_[i]) / distance_[i] : 0.0;  // sqrt(s_i)
    }
    for (std::size_t i = 0; i < n_; ++i) {
      Real force = 0;
      for (std::size_t j = 0; j < n_; ++j) force += view_[i * n_ + j] * weight_[j];
      direction_[i] = step_[i] * force;
      for (std::size_t j = 0; j < n_; ++j) {
        newton_[i * n_ + j] = -step_[i] * view_[i * n_ + j] * step_[j];
      }
      newton_[i * n_ + i] += weight_sum_ * (1 + kRegularisation);
    }
    CholeskySolve();
    for (std::size_t i = 0; i < n_; ++i) {
      direction_[i] = (weight_[i] + step_[i] * direction_[i]) / weight_sum_;
    }
  }

  // direction_ = newton_^-1 direction_, in place; raises pivots that rounding made too small.
  void CholeskySolve() {
    const Real smallest_pivot = weight_sum_ * kRegularisation;
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = j; i < n_; ++i) {
        Real value = newton_[i * n_ + j];
        for (std::size_t k = 0; k < j; ++k) value -= newton_[i * n_ + k] * newton_[j * n_ + k];
        if (i == j) {
          newton_[j * n_ + j] = Sqrt(std::max(value, smallest_pivot));
        } else {
          newton_[i * n_ + j] = value / newton_[j * n_ + j];
        }
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      Real value = direction_[i];
      for (std::size_t k = 0; k < i; ++k) value -= newton_[i * n_ + k] * direction_[k];
      direction_[i] = value / newton_[i * n_ + i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      Real value = direction_[i];
      for (std::size_t k = i + 1; k < n_; ++k) value -= newton_[k * n_ + i] * direction_[k];
      direction_[i] = value / newton_[i * n_ + i];
    }
  }

  // d/dt f(v + t delta) for step_[i] = <E_i, delta> and squared = |delta|^2.
  Real Slope(const Real& t, const Real& squared) const {
    Real slope = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const Real r2 = distance_[i] * distance_[i] - 2 * t * step_[i] + t * t * squared;
      slope += Weight(Sqrt(r2), tau_) * (t * squared - step_[i]);
    }
    return slope;
  }

  // The length along direction_ where the slope of f is zero, to a relative tenth; 0 without
  // descent.
  Real LineSearch() {
    Real squared = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      Real inner = 0;
      for (std::size_t j = 0; j < n_; ++j) inner += view_[i * n_ + j] * direction_[j];
      step_[i] = inner;
      squared += direction_[i] * inner;
    }
    const Real start = Slope(0, squared);
    if (!(squared > 0) || !(start < 0)) return 0;
    const Real enough = -0.1 * start;
    Real low = 0, high = 1;
    Real slope = Slope(high, squared);
    for (int i = 0; slope < -enough && i < kLineSearchSteps; ++i) {
      low = high;
      high *= 2;
      slope = Slope(high, squared);
    }
    for (int i = 0; slope > enough && i < kLineSearchSteps; ++i) {
      const Real middle = 0.5 * (low + high);
      const Real at_middle = Slope(middle, squared);
      if (at_middle < -enough) {
        low = middle;
      } else {
        high = middle;
        slope = at_middle;
      }
    }
    return slope > enough ? low : high;
  }

  const std::size_t n_;
  const double tau_;
  std::vector<Real> gram_;  // full symmetric
  std::vector<Real> a_;
  std::vector<Real> gram_a_;
  std::vector<Real> distance_;
  std::vector<Real> weight_;
  std::vector<Real> view_;
  std::vector<Real> newton_;
  std::vector<Real> direction_;
  std::vector<Real> step_;
  Real squared_v_ = 0;
  Real weight_sum_ = 0;
};

template <typename Real>
HuberSolution<Real> Solve(const HuberProblem<Real>& problem) {
  Solver<Real> solver(problem);
  HuberSolution<Real> best;
  best.residual = std::numeric_limits<double>::infinity();
  std::size_t iterations = 0;
  std::size_t since_best = 0;
  while (true) {
    const double residual = solver.Residual();
    if (residual < best.residual) {
      best.coefficients = solver.coefficients();
      best.weights = solver.weights();
      best.residual = residual;
      since_best = 0;
    }
    if (best.residual <= problem.tolerance || since_best++ >= kPatience ||
        iterations >= kMaxIterations) {
      best.iterations = iterations;
      return best;
    }
    if (iterations >= kWarmUp) {
      solver.NewtonStep();
      ++iterations;
    }
    solver.FixedPointStep();
    ++iterations;
  }
}

}  // namespace

HuberSolution<double> SolveHuber(const HuberProblem<double>& problem) { return Solve(problem); }
HuberSolution<Wide> SolveHuber(const HuberProblem<Wide>& problem) { return Solve(problem); }

}  // namespace ostraka::aggregation
