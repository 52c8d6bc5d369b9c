// The passes over memory that rules are made of, cut into chunks that depend on the dimension only,
// so that the Executor cannot change a bit of any result.
//
// Internal to aggregation. Thread safety: const; results belong to the caller.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "aggregation/kernels/rows.h"
#include "aggregation/kernels/simd.h"

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

// A linear map of rows: row k of the result is sum_e weight[e] row[index[e]] over its entries,
// whose indices ascend.
struct LinearMap {
  struct OutputRow {
    std::vector<std::uint32_t> index;
    std::vector<double> weight;
  };
  std::vector<OutputRow> rows;
};

// T is the type of the rows. Where a value is not finite, sums over its row are not finite (finite
// rows never make them so) and functions that return bool return false.
// REQUIRES: rows, executor and kernels outlive this; row pointers are not null.
template <typename T>
class BasicPasses {
 public:
  using Real = double;
  using Value = T;

  BasicPasses(const BasicRows<T>& rows, const Executor& executor, const simd::Kernels& kernels)
      : rows_(rows), executor_(executor), kernels_(kernels), chunks_(CutChunks(rows.dimension)) {}

  // Packed lower triangle of <row_i - center, row_j - center>; about zero where center is null.
  std::vector<double> Gram(const T* center) const;

  // Packed lower triangle of |row_i - row_j|^2. Sums of squares of differences: no offset that the
  // rows have in common costs a digit.
  std::vector<double> SquaredDistances() const;

  // |row_i|^2 or |row_i - center|^2.
  std::vector<double> SquaredNorms(const T* center = nullptr) const;

  Measurement<double> Measure(const T* center, std::span<const double> weights) const;

  // out = center + sum_i coefficient_i (row_i - center), measured while it is in the cache.
  Measurement<double> CombineAndMeasure(const T* center, std::span<const double> coefficients,
                                        std::span<const double> weights, T* out) const;

  bool Mean(T* out) const;

  // What `plan` makes of every column. If `squares` is not null, squares[i] = |row_i - out|^2.
  bool Columns(const simd::ColumnPlan& plan, T* out, std::vector<double>* squares = nullptr) const;

  // out = the mapped rows, one after another. REQUIRES: all values are finite.
  void Mix(const LinearMap& map, T* out) const;

 private:
  using Block = simd::BasicBlock<T>;

  // body(chunk, block, buffer) for every block, blocks of a chunk in ascending order; `buffer` is a
  // chunk's own scratch of `scratch` values, zero at first, aligned to a cache line.
  template <typename Scratch>
  void ForEachBlock(std::size_t scratch,
                    const std::function<void(std::size_t, const Block&, Scratch*)>& body) const;
  std::vector<double> OverPairs(const T* center, void (*kernel)(const double*, std::size_t,
                                                                const Block&, double*)) const;
  Measurement<double> MeasureWith(const T* center, std::span<const double> weights,
                                  const std::function<void(const Block&)>& before) const;

  const BasicRows<T>& rows_;
  const Executor& executor_;
  const simd::Kernels& kernels_;
  Chunks chunks_;
};

extern template class BasicPasses<float>;
extern template class BasicPasses<double>;
using Passes = BasicPasses<float>;

}  // namespace ostraka::aggregation
