// The passes of passes.h in Wide arithmetic: slow, but exact enough for rows whose enormous pulls
// cancel. Their cuts are also independent of the Executor. They use plain loops instead of kernels.
//
// Internal to aggregation. Thread safety: const; results belong to the caller.
#pragma once

#include <span>
#include <vector>

#include "aggregation/kernels/passes.h"
#include "aggregation/kernels/rows.h"
#include "aggregation/kernels/wide.h"

namespace ostraka::aggregation {

// REQUIRES: rows and executor outlive this; all values are finite.
template <typename T>
class BasicWidePasses {
 public:
  using Real = Wide;
  using Value = T;

  BasicWidePasses(const BasicRows<T>& rows, const Executor& executor)
      : rows_(rows), executor_(executor), chunks_(CutChunks(rows.dimension)) {}

  std::vector<Wide> Gram(const T* center) const;
  Measurement<Wide> Measure(const T* center, std::span<const Wide> weights) const;
  Measurement<Wide> CombineAndMeasure(const T* center, std::span<const Wide> coefficients,
                                      std::span<const Wide> weights, T* out) const;

 private:
  // Adds `size` sums per chunk, in chunk order; body adds one coordinate to its chunk's sums.
  std::vector<Wide> SumOverCoordinates(
      std::size_t size, const std::function<void(std::size_t, std::span<Wide>)>& body) const;

  const BasicRows<T>& rows_;
  const Executor& executor_;
  Chunks chunks_;
};

extern template class BasicWidePasses<float>;
extern template class BasicWidePasses<double>;
using WidePasses = BasicWidePasses<float>;

}  // namespace ostraka::aggregation
