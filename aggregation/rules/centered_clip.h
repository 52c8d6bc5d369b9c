// CenteredClip at its fixed point (Karimireddy, He, Jaggi, ICML 2021; as a minimum:
// docs/protocol/numbers.md).
//
// The result is the minimum over v of sum_i Huber_tau(|g_i - v|), which is the fixed point of
//   sum_i (g_i - v) min(1, tau / |g_i - v|) = 0.
// Method: centre the rows, form their Gram matrix in double in one pass, and iterate on n
// coefficients, whose cost is negligible. A second pass forms the result and measures the residual
// of the float32 result (with the solver's weights and the triangle inequality; in a third pass if
// that bound is too weak). If the residual is too large (one row may dwarf the rest), centre the
// rows on the result and iterate again. Where double precision is insufficient, a last stage
// repeats this in Wide (wide.h). That is some hundred times slower, and attackers cannot cause it
// while n tau 2^-45 < eps.
//
// Promise: on Ok, |sum_i clip(g_i - out, tau)| <= n (eps + 2^-23 |out|) for the float32 result. The
// minimum exists and its rounding costs half of that, so an honest aggregator reaches the bound for
// any finite rows; there is no excuse flag. Where the bound exceeds tau / 4, and so says little,
// the rows are centred on the result until that brings no gain. FailedPrecondition remains for
// pulls min(tau, |g_i - out|) beyond about 2^90 times the bound that cancel each other (and for eps
// below float32's subnormals). A run's manifest should keep n tau 2^-45 < eps, because the proofs
// (projection.h) are in double. If the minimum is not unique (all rows on a line), the result is
// one of the minima.
#pragma once

#include "aggregation/kernels/simd.h"
#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

struct CenteredClipOptions {
  double tau = 1.0;   // clipping radius, > 0 and finite
  double eps = 1e-6;  // absolute residual per row, > 0
};

struct CenteredClipReport {
  std::size_t iterations = 0;  // on coefficients, over all centrings
  std::size_t centrings = 0;   // passes that formed a Gram matrix
  double residual = 0;         // upper bound of |sum_i clip(g_i - out, tau)|, rounding included
  double residual_bound = 0;   // n (eps + 2^-23 |out|)
};

class CenteredClip final : public Rule {
 public:
  explicit CenteredClip(CenteredClipOptions options,
                        const simd::Kernels& kernels = simd::BestKernels())
      : options_(options), kernels_(kernels) {}
  std::string_view name() const override { return "centered_clip"; }
  base::Status Aggregate(const Rows& rows, const Call& call, std::span<float> out) const override;
  base::Status Aggregate(const DoubleRows& rows, const Call& call,
                         std::span<double> out) const override;
  base::StatusOr<CenteredClipReport> AggregateWithReport(const Rows& rows, const Executor& executor,
                                                         std::span<float> out) const;

 private:
  template <typename T>
  base::StatusOr<CenteredClipReport> Run(const BasicRows<T>& rows, const Executor& executor,
                                         std::span<T> out) const;
  template <typename T>
  base::Status RunWithCall(const BasicRows<T>& rows, const Call& call, std::span<T> out) const;

  CenteredClipOptions options_;
  const simd::Kernels& kernels_;
};

}  // namespace ostraka::aggregation
