// Functions for rules that choose rows: all distances as a matrix, the nearest rows with a rule for
// ties, the mean of the chosen rows.
//
// Internal to aggregation. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aggregation/shared/rule.h"

namespace ostraka::aggregation {

// A symmetric n x n matrix.
class SymmetricMatrix {
 public:
  SymmetricMatrix() = default;
  SymmetricMatrix(std::size_t n, std::span<const double> packed_lower_triangle);

  std::size_t size() const { return n_; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * n_ + j]; }
  std::span<const double> row(std::size_t i) const {
    return std::span<const double>(values_).subspan(i * n_, n_);
  }

 private:
  std::size_t n_ = 0;
  std::vector<double> values_;
};

// |row_i - row_j|^2, to about 2^-50 relative, whatever common offset the rows have. An error names
// a value that is not finite. One pass.
template <typename T>
base::StatusOr<SymmetricMatrix> SquaredDistancesOf(const BasicRows<T>& rows,
                                                   const Executor& executor);

// <row_i - center, row_j - center>; a null center means zero. An error names a value that is not
// finite. One pass.
template <typename T>
base::StatusOr<SymmetricMatrix> GramOf(const BasicRows<T>& rows, const T* center,
                                       const Executor& executor);

// |row_i|^2, or |row_i - center|^2. An error names a value that is not finite. One pass.
template <typename T>
base::StatusOr<std::vector<double>> SquaredNormsOf(const BasicRows<T>& rows, const T* center,
                                                   const Executor& executor);

// Indices of the `count` smallest keys, in ascending order of index; ties: the lower index.
// REQUIRES: count <= keys.size(), no key is NaN.
std::vector<std::size_t> Smallest(std::span<const double> keys, std::size_t count);

// The median; the midpoint of the middle two for an even number. REQUIRES: not empty.
double MedianOf(std::vector<double> values);

// out = the mean of the chosen rows, in ascending order of index. One pass over them. Fills
// call.report->selected.
template <typename T>
base::Status MeanOfSelected(const BasicRows<T>& rows, std::vector<std::size_t> selected,
                            const Call& call, std::span<T> out);

// out = sum_i weight_i row_i. One pass. Fills call.report->weights; with `select`, also the rows of
// weight > 0 as selected. REQUIRES: all rows are finite.
template <typename T>
base::Status WeightedSum(const BasicRows<T>& rows, std::span<const double> weights,
                         const Call& call, std::span<T> out);

}  // namespace ostraka::aggregation
