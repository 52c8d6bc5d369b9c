// CenteredClip at its fixed point (Karimireddy, He, Jaggi, ICML 2021; as a minimum: protocol.md 4).
//
// The result is the minimum over v of sum_i Huber_tau(|g_i - v|), which is the fixed point of
//   sum_i (g_i - v) min(1, tau / |g_i - v|) = 0.
// Rows are centred, their Gram matrix is formed in double in one pass, the iteration runs on n
// coefficients (it costs nothing there, however long), the result is formed in a second pass and
// its residual measured directly in a third. If the measured residual is too large (one row may
// dwarf the rest) the rows are centred on the result and the iteration goes on.
//
// Promise: on Ok, |sum_i clip(g_i - out, tau)| <= n (eps + 2^-23 |out|), measured in double on the
// float32 result. An honest aggregator can always reach this: there is no excuse flag.
#pragma once

#include "aggregation/rule.h"
#include "aggregation/simd.h"

namespace ostraka::aggregation {

struct CenteredClipOptions {
  double tau = 1.0;   // clipping radius, > 0 and finite
  double eps = 1e-6;  // absolute residual per row, > 0
};

struct CenteredClipReport {
  std::size_t iterations = 0;  // on coefficients, over all centrings
  std::size_t centrings = 0;   // passes that formed a Gram matrix
  double residual = 0;         // |sum_i clip(g_i - out, tau)|, measured
  double residual_bound = 0;   // n (eps + 2^-23 |out|)
};

class CenteredClip final : public Rule {
 public:
  explicit CenteredClip(CenteredClipOptions options,
                        const simd::Kernels& kernels = simd::BestKernels())
      : options_(options), kernels_(kernels) {}
  std::string_view name() const override { return "centered_clip"; }
  base::Status Aggregate(const Rows& rows, const Executor& executor,
                         std::span<float> out) const override;
  base::StatusOr<CenteredClipReport> AggregateWithReport(const Rows& rows, const Executor& executor,
                                                         std::span<float> out) const;

 private:
  CenteredClipOptions options_;
  const simd::Kernels& kernels_;
};

}  // namespace ostraka::aggregation
