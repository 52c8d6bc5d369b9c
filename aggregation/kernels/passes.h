// The passes over memory that rules consist of. They are cut into chunks that depend only on the
// dimension, so that the Executor cannot change a bit of any result.
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

// Distances of a vector `center` from all rows: |row_i - center|^2, |sum_i weight_i (row_i -
// center)|^2 for given weights, and |center|^2.
template <typename Real>
struct Measurement {
  std::vector<Real> squared_distances;
  Real squared_residual = 0;
  Real squared_center = 0;
};

// The cut of d coordinates into chunks: a function of d alone.
struct Chunks {
  std::size_t count = 0;
  std::size_t length = 0;  // coordinates; a multiple of simd::kBlock; the last chunk may be shorter
};
Chunks CutChunks(std::size_t dimension);

// A linear map of rows: row k of the result is sum_e weight[e] row[index[e]] over its entries, with
// ascending indices.
struct LinearMap {
  struct OutputRow {
    std::vector<std::uint32_t> index;
    std::vector<double> weight;
  };
  std::vector<OutputRow> rows;
};

// T is the type of the rows. If a value is not finite, sums over its row are not finite and
// functions that return bool return false. Sums over finite rows are finite.
// REQUIRES: rows, executor and kernels outlive this; row pointers are not null.
template <typename T>
class BasicPasses {
 public:
  using Real = double;
  using Value = T;

  BasicPasses(const BasicRows<T>& rows, const Executor& executor, const simd::Kernels& kernels)
      : rows_(rows), executor_(executor), kernels_(kernels), chunks_(CutChunks(rows.dimension)) {}

  // Packed lower triangle of <row_i - center, row_j - center>; a null center means zero.
  std::vector<double> Gram(const T* center) const;

  // Packed lower triangle of |row_i - row_j|^2, as sums of squared differences: a common offset of
  // the rows costs no precision.
  std::vector<double> SquaredDistances() const;

  // |row_i|^2 or |row_i - center|^2.
  std::vector<double> SquaredNorms(const T* center = nullptr) const;

  Measurement<double> Measure(const T* center, std::span<const double> weights) const;

  // out = center + sum_i coefficient_i (row_i - center), measured while it is cached.
  Measurement<double> CombineAndMeasure(const T* center, std::span<const double> coefficients,
                                        std::span<const double> weights, T* out) const;

  bool Mean(T* out) const;

  // Applies `plan` to every column. If `squares` is not null, squares[i] = |row_i - out|^2.
  bool Columns(const simd::ColumnPlan& plan, T* out, std::vector<double>* squares = nullptr) const;

  // out = the mapped rows, one after another. REQUIRES: all values are finite.
  void Mix(const LinearMap& map, T* out) const;

 private:
  using Block = simd::BasicBlock<T>;

  // Calls body(chunk, block, buffer) for every block, in ascending order within a chunk. `buffer`
  // is the chunk's own scratch of `scratch` values, zero at first, aligned to a cache line.
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
