// The passes of passes.h in Wide arithmetic: slow and exact enough for rows whose enormous pulls
// cancel. The same shapes, the same independence of the Executor, and no kernels: plain loops.
//
// Internal to aggregation. Thread safety: const; results belong to the caller.
#pragma once

#include <span>
#include <vector>

#include "aggregation/passes.h"
#include "aggregation/rule.h"
#include "aggregation/wide.h"

namespace ostraka::aggregation {

// REQUIRES: rows and executor outlive this; all values are finite.
class WidePasses {
 public:
  using Real = Wide;

  WidePasses(const Rows& rows, const Executor& executor);

  std::vector<Wide> Gram(const float* center) const;
  Measurement<Wide> Measure(const float* center, std::span<const Wide> weights) const;
  Measurement<Wide> CombineAndMeasure(const float* center, std::span<const Wide> coefficients,
                                      std::span<const Wide> weights, float* out) const;

 private:
  // Adds `size` sums a chunk, in chunk order; body adds a coordinate to its chunk's sums.
  std::vector<Wide> SumOverCoordinates(
      std::size_t size, const std::function<void(std::size_t, std::span<Wide>)>& body) const;

  const Rows& rows_;
  const Executor& executor_;
  Chunks chunks_;
};

}  // namespace ostraka::aggregation
