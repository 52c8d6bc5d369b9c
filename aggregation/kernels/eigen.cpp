#include "aggregation/kernels/eigen.h"

#include <cmath>

#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

// Sweeps converge quadratically; a dozen suffice for any n that fits in memory.
constexpr int kMaxSweeps = 40;

class Jacobi {
 public:
  Jacobi(std::size_t n, std::vector<double> matrix) : n_(n), a_(std::move(matrix)), v_(n * n, 0.0) {
    for (std::size_t i = 0; i < n; ++i) v_[i * n + i] = 1;
  }

  void Run() {
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool rotated = false;
      for (std::size_t p = 0; p + 1 < n_; ++p) {
        for (std::size_t q = p + 1; q < n_; ++q) rotated = Rotate(p, q) || rotated;
      }
      if (!rotated) return;
    }
  }

  TopEigen Top() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < n_; ++i) {
      if (At(i, i) > At(best, best)) best = i;
    }
    TopEigen top{At(best, best), std::vector<double>(n_)};
    for (std::size_t i = 0; i < n_; ++i) top.vector[i] = v_[i * n_ + best];
    return top;
  }

 private:
  double At(std::size_t i, std::size_t j) const { return a_[i * n_ + j]; }

  // Makes (p, q) zero. False if it is negligible beside the diagonal.
  bool Rotate(std::size_t p, std::size_t q) {
    const double off = At(p, q);
    const double app = At(p, p);
    const double aqq = At(q, q);
    if (std::abs(off) <= 0x1p-54 * std::sqrt(std::abs(app) * std::abs(aqq)) ||
        std::abs(off) < 1e-300) {
      return false;
    }
    const double theta = (aqq - app) / (2 * off);
    const double t = (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
    const double c = 1 / std::sqrt(t * t + 1);
    const double s = t * c;
    for (std::size_t k = 0; k < n_; ++k) {
      if (k == p || k == q) continue;
      const double kp = At(k, p);
      const double kq = At(k, q);
      a_[k * n_ + p] = a_[p * n_ + k] = c * kp - s * kq;
      a_[k * n_ + q] = a_[q * n_ + k] = s * kp + c * kq;
    }
    a_[p * n_ + p] = app - t * off;
    a_[q * n_ + q] = aqq + t * off;
    a_[p * n_ + q] = a_[q * n_ + p] = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      const double kp = v_[k * n_ + p];
      const double kq = v_[k * n_ + q];
      v_[k * n_ + p] = c * kp - s * kq;
      v_[k * n_ + q] = s * kp + c * kq;
    }
    return true;
  }

  std::size_t n_;
  std::vector<double> a_;
  std::vector<double> v_;  // columns are the vectors
};

}  // namespace

TopEigen LargestEigen(std::size_t n, std::vector<double> matrix) {
  OSTRAKA_CHECK(n > 0 && matrix.size() == n * n);
  Jacobi jacobi(n, std::move(matrix));
  jacobi.Run();
  return jacobi.Top();
}

bool AllEigenvaluesBelow(std::size_t n, const std::vector<double>& matrix, double bound) {
  std::vector<double> lower(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double value = (i == j ? bound : 0.0) - matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) value -= lower[i * n + k] * lower[j * n + k];
      if (i > j) {
        lower[i * n + j] = value / lower[j * n + j];
      } else if (value > 0) {
        lower[j * n + j] = std::sqrt(value);
      } else {
        return false;
      }
    }
  }
  return true;
}

}  // namespace ostraka::aggregation
