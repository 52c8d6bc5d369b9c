// The arithmetic mean: no robustness, the baseline that every attack breaks.
//
// Each coordinate is the sum in row order in double, divided by n, rounded to float32; never -0.
#pragma once

#include "aggregation/kernels/simd.h"
#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

class Mean final : public Rule {
 public:
  explicit Mean(const simd::Kernels& kernels = simd::BestKernels()) : kernels_(kernels) {}
  std::string_view name() const override { return "mean"; }
  base::Status Aggregate(const Rows& rows, const Call& call, std::span<float> out) const override;
  base::Status Aggregate(const DoubleRows& rows, const Call& call,
                         std::span<double> out) const override;

 private:
  template <typename T>
  base::Status Run(const BasicRows<T>& rows, const Call& call, std::span<T> out) const;

  const simd::Kernels& kernels_;
};

}  // namespace ostraka::aggregation
