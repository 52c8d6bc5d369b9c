#include "aggregation/rule.h"

#include <cmath>
#include <string>

#include "aggregation/checks.h"
#include "aggregation/simd.h"

namespace ostraka::aggregation {
namespace {

constexpr std::size_t kAllFinite = static_cast<std::size_t>(-1);

std::size_t FirstNonFinite(const float* row, std::size_t dimension, const simd::Kernels& kernels) {
  for (std::size_t offset = 0; offset < dimension; offset += simd::kBlock) {
    const std::size_t length = std::min(simd::kBlock, dimension - offset);
    if (kernels.all_finite(row + offset, length)) continue;
    std::size_t at = offset;
    while (std::isfinite(row[at])) ++at;
    return at;
  }
  return kAllFinite;
}

}  // namespace

base::Status CheckShape(const Rows& rows) {
  if (rows.count() == 0) return base::InvalidArgument("no rows to aggregate");
  if (rows.dimension == 0) return base::InvalidArgument("rows have no coordinates");
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (rows.row[i] == nullptr) {
      return base::InvalidArgument("row " + std::to_string(i) + " is missing");
    }
  }
  return base::OkStatus();
}

base::Status CheckRows(const Rows& rows, const Executor& executor) {
  RETURN_IF_ERROR(CheckShape(rows));
  const simd::Kernels& kernels = simd::BestKernels();
  std::vector<std::size_t> first(rows.count(), kAllFinite);
  executor.ParallelFor(rows.count(), [&](std::size_t i) {
    first[i] = FirstNonFinite(rows.row[i], rows.dimension, kernels);
  });
  for (std::size_t i = 0; i < rows.count(); ++i) {
    if (first[i] == kAllFinite) continue;
    const float value = rows.row[i][first[i]];
    return base::InvalidArgument("row " + std::to_string(i) + ", coordinate " +
                                 std::to_string(first[i]) + " is " +
                                 (std::isnan(value) ? "NaN" : "infinite"));
  }
  return base::OkStatus();
}

}  // namespace ostraka::aggregation
