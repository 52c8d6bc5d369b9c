// The passes over memory that rules are made of, cut into chunks that depend on the dimension only,
// so that the Executor cannot change a bit of any result.
//
// Internal to aggregation. Thread safety: const; results belong to the caller.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "aggregation/rule.h"
#include "aggregation/simd.h"

namespace ostraka::aggregation {

// A vector seen from every row: |row_i - center|^2, |sum_i weight_i (row_i - center)|^2 for the
// weights that were asked for, and |center|^2.
template <typename Real>
struct Measurement {
  std::vector<Real> squared_distances;
  Real squared_residual = 0;
  Real squared_center = 0;
};

// The cut of d coordinates: a function of d alone.
struct Chunks {
  std::size_t count = 0;
  std::size_t length = 0;  // coordinates; a multiple of simd::kBlock; the last chunk may be shorter
};
Chunks CutChunks(std::size_t dimension);

// REQUIRES: rows, executor and kernels outlive this; row pointers are not null.
class Passes {
 public:
  using Real = double;

  Passes(const Rows& rows, const Executor& executor, const simd::Kernels& kernels);

  // Packed lower triangle of <row_i - center, row_j - center>. A non-finite value in row i makes
  // entry (i, i) non-finite; finite rows never do (squares of floats stay below 1e78).
  std::vector<double> Gram(const float* center) const;

  Measurement<double> Measure(const float* center, std::span<const double> weights) const;

  // out = center + sum_i coefficient_i (row_i - center), measured while it is in the cache.
  Measurement<double> CombineAndMeasure(const float* center, std::span<const double> coefficients,
                                        std::span<const double> weights, float* out) const;

  // False if some value is not finite; `out` then holds no meaning.
  bool Mean(float* out) const;

 private:
  // body(chunk, block) for every block, blocks of a chunk in ascending order.
  void ForEachBlock(const std::function<void(std::size_t, const simd::BlockOfRows&)>& body) const;
  Measurement<double> MeasureWith(
      const float* center, std::span<const double> weights,
      const std::function<void(const simd::BlockOfRows&)>& before) const;

  const Rows& rows_;
  const Executor& executor_;
  const simd::Kernels& kernels_;
  Chunks chunks_;
};

}  // namespace ostraka::aggregation
