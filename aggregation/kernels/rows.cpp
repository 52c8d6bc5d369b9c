#include "aggregation/kernels/rows.h"

#include <cmath>
#include <string>

#include "aggregation/kernels/checks.h"
#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {
namespace {

constexpr std::size_t kAllValid = static_cast<std::size_t>(-1);

// Checks whole blocks with a kernel, then the values of the first bad block one by one.
template <typename T>
std::size_t FirstInvalid(const T* row, std::size_t dimension) {
  const simd::TypedKernels<T>& kernels = simd::BestKernels().Of<T>();
  for (std::size_t offset = 0; offset < dimension; offset += simd::kBlock) {
    const std::size_t length = std::min(simd::kBlock, dimension - offset);
    if (kernels.all_finite(row + offset, length)) continue;
    std::size_t at = offset;
    while (std::isfinite(row[at])) ++at;
    return at;
  }
  return kAllValid;
}

template <typename T>
base::Status CheckValues(const std::string& name, const T* values, std::size_t first) {
  if (first == kAllValid) return base::OkStatus();
  return base::InvalidArgument(name + ", coordinate " + std::to_string(first) + " is " +
                               (std::isnan(values[first]) ? "NaN" : "infinite"));
}

template <typename T>
base::Status CheckReferenceOf(const T* reference, std::size_t dimension) {
  return CheckValues("the reference", reference, FirstInvalid(reference, dimension));
}

template <typename T>
base::Status CheckShapeOf(const BasicRows<T>& rows) {
  if (rows.count() == 0) return base::InvalidArgument("no rows to aggregate");
  if (rows.dimension == 0) return base::InvalidArgument("rows have no coordinates");
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (rows.row[i] == nullptr) {
      return base::InvalidArgument("row " + std::to_string(i) + " is missing");
    }
  }
  return base::OkStatus();
}

template <typename T>
base::Status CheckRowsOf(const BasicRows<T>& rows, const Executor& executor) {
  RETURN_IF_ERROR(CheckShape(rows));
  std::vector<std::size_t> first(rows.count(), kAllValid);
  executor.ParallelFor(
      rows.count(), [&](std::size_t i) { first[i] = FirstInvalid(rows.row[i], rows.dimension); });
  for (std::size_t i = 0; i < rows.count(); ++i) {
    RETURN_IF_ERROR(CheckValues("row " + std::to_string(i), rows.row[i], first[i]));
  }
  if (rows.reference == nullptr) return base::OkStatus();
  return CheckReferenceOf(rows.reference, rows.dimension);
}

}  // namespace

base::Status CheckShape(const Rows& rows) { return CheckShapeOf(rows); }
base::Status CheckShape(const DoubleRows& rows) { return CheckShapeOf(rows); }

base::Status CheckReferenceValues(const float* reference, std::size_t dimension) {
  return CheckReferenceOf(reference, dimension);
}
base::Status CheckReferenceValues(const double* reference, std::size_t dimension) {
  return CheckReferenceOf(reference, dimension);
}

base::Status CheckRows(const Rows& rows, const Executor& executor) {
  return CheckRowsOf(rows, executor);
}
base::Status CheckRows(const DoubleRows& rows, const Executor& executor) {
  return CheckRowsOf(rows, executor);
}

}  // namespace ostraka::aggregation
