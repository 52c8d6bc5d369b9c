// CenteredClip at its fixed point (Karimireddy, He, Jaggi, ICML 2021; as a minimum: protocol.md 4).
//
// The result is the minimum over v of sum_i Huber_tau(|g_i - v|), which is the fixed point of
//   sum_i (g_i - v) min(1, tau / |g_i - v|) = 0.
// Rows are centred, their Gram matrix is formed in double in one pass, the iteration runs on n
// coefficients (it costs nothing there, however long), the result is formed in a second pass and
// its residual measured on the float32 result in the same one (with the solver's weights and the
// triangle inequality; in a third pass where that is too weak). If the residual is too large (one
// row may dwarf the rest) the rows are centred on the result and the iteration goes on. Where
// double cannot tell, a last stage does the same in Wide (wide.h): some hundred times slower, and
// out of reach of attackers while n tau 2^-45 < eps.
//
// Promise: on Ok, |sum_i clip(g_i - out, tau)| <= n (eps + 2^-23 |out|) for the float32 result. The
// minimum exists and its rounding costs half of that, so an honest aggregator reaches it for any
// finite rows: there is no excuse flag. Where that bound is more than tau / 4, so that it says
// little, the rows are centred on the result until no more is gained. FailedPrecondition is left
// for pulls min(tau, |g_i - out|) beyond about 2^90 times the bound that cancel each other (and eps
// below float32's subnormals). A run's manifest should keep n tau 2^-45 < eps, for the proofs
// (projection.h) are in double. Where the minimum is not unique (all rows on a line) the result is
// one of them.
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
  double residual = 0;         // |sum_i clip(g_i - out, tau)| is at most this, rounding included
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
