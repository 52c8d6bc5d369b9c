#include "aggregation/shared/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregation/kernels/passes.h"
#include "node/base/check.h"

namespace ostraka::aggregation {
namespace {

bool AllFinite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

SymmetricMatrix::SymmetricMatrix(std::size_t n, std::span<const double> packed_lower_triangle)
    : n_(n), values_(n * n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = packed_lower_triangle[simd::TriangleIndex(i, j)];
      values_[i * n + j] = value;
      values_[j * n + i] = value;
    }
  }
}

template <typename T>
base::StatusOr<SymmetricMatrix> SquaredDistancesOf(const BasicRows<T>& rows,
                                                   const Executor& executor) {
  const BasicPasses<T> passes(rows, executor, simd::BestKernels());
  const std::vector<double> squares = passes.SquaredDistances();
  // A single row has no distances that could reveal a non-finite value.
  if (rows.count() == 1 || !AllFinite(squares)) RETURN_IF_ERROR(CheckRows(rows, executor));
  return SymmetricMatrix(rows.count(), squares);
}

template <typename T>
base::StatusOr<SymmetricMatrix> GramOf(const BasicRows<T>& rows, const T* center,
                                       const Executor& executor) {
  const BasicPasses<T> passes(rows, executor, simd::BestKernels());
  const std::vector<double> gram = passes.Gram(center);
  if (!AllFinite(gram)) RETURN_IF_ERROR(CheckRows(rows, executor));
  return SymmetricMatrix(rows.count(), gram);
}

template <typename T>
base::StatusOr<std::vector<double>> SquaredNormsOf(const BasicRows<T>& rows, const T* center,
                                                   const Executor& executor) {
  const BasicPasses<T> passes(rows, executor, simd::BestKernels());
  std::vector<double> squares = passes.SquaredNorms(center);
  if (!AllFinite(squares)) RETURN_IF_ERROR(CheckRows(rows, executor));
  return squares;
}

std::vector<std::size_t> Smallest(std::span<const double> keys, std::size_t count) {
  OSTRAKA_CHECK(count <= keys.size());
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    return keys[a] < keys[b] || (keys[a] == keys[b] && a < b);
  };
  std::sort(order.begin(), order.end(), before);
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

double MedianOf(std::vector<double> values) {
  OSTRAKA_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

template <typename T>
base::Status MeanOfSelected(const BasicRows<T>& rows, std::vector<std::size_t> selected,
                            const Call& call, std::span<T> out) {
  OSTRAKA_CHECK(!selected.empty());
  BasicRows<T> chosen;
  chosen.dimension = rows.dimension;
  for (const std::size_t i : selected) chosen.row.push_back(rows.row[i]);
  const bool finite = BasicPasses<T>(chosen, call.executor, simd::BestKernels()).Mean(out.data());
  if (!finite) return CheckRows(rows, call.executor);
  if (call.report != nullptr) {
    call.report->weights.assign(rows.count(), 0.0);
    for (const std::size_t i : selected) {
      call.report->weights[i] = 1.0 / static_cast<double>(selected.size());
    }
    call.report->selected = std::move(selected);
  }
  return base::OkStatus();
}

template <typename T>
base::Status WeightedSum(const BasicRows<T>& rows, std::span<const double> weights,
                         const Call& call, std::span<T> out) {
  LinearMap map;
  map.rows.emplace_back();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    map.rows[0].index.push_back(static_cast<std::uint32_t>(i));
    map.rows[0].weight.push_back(weights[i]);
  }
  if (call.report != nullptr) {
    call.report->weights.assign(weights.begin(), weights.end());
    call.report->selected.assign(map.rows[0].index.begin(), map.rows[0].index.end());
  }
  BasicPasses<T>(rows, call.executor, simd::BestKernels()).Mix(map, out.data());
  return base::OkStatus();
}

#define OSTRAKA_INSTANTIATE(T)                                                                     \
  template base::StatusOr<SymmetricMatrix> SquaredDistancesOf(const BasicRows<T>&,                 \
                                                              const Executor&);                    \
  template base::StatusOr<SymmetricMatrix> GramOf(const BasicRows<T>&, const T*, const Executor&); \
  template base::StatusOr<std::vector<double>> SquaredNormsOf(const BasicRows<T>&, const T*,       \
                                                              const Executor&);                    \
  template base::Status MeanOfSelected(const BasicRows<T>&, std::vector<std::size_t>, const Call&, \
                                       std::span<T>);                                              \
  template base::Status WeightedSum(const BasicRows<T>&, std::span<const double>, const Call&,     \
                                    std::span<T>);
OSTRAKA_INSTANTIATE(float)
OSTRAKA_INSTANTIATE(double)
#undef OSTRAKA_INSTANTIATE

}  // namespace ostraka::aggregation
