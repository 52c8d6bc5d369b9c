#include "aggregation/shared/majority_center.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ostraka::aggregation {
namespace {

// Number of coordinates in the sample for the first center.
constexpr std::size_t kSampleBlock = 64;
constexpr std::size_t kSampleBlocks = 16;

template <typename T>
double SquaredDistance(const T* a, const T* b, std::size_t dimension, Look look) {
  const bool all = look == Look::kAll || dimension <= kSampleBlock * kSampleBlocks;
  const std::size_t blocks = all ? 1 : kSampleBlocks;
  const std::size_t length = blocks == 1 ? dimension : kSampleBlock;
  double sum = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::size_t offset = dimension / blocks * k;
    for (std::size_t c = offset; c < offset + length; ++c) {
      const double difference = static_cast<double>(a[c]) - static_cast<double>(b[c]);
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace

template <typename T>
std::size_t MajorityCenter(const BasicRows<T>& rows, Look look) {
  const std::size_t n = rows.count();
  std::vector<double> distance(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      distance[i * n + j] = SquaredDistance(rows.row[i], rows.row[j], rows.dimension, look);
      distance[j * n + i] = distance[i * n + j];
    }
  }
  std::size_t best = 0;
  double best_radius = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = distance.begin() + static_cast<std::ptrdiff_t>(i * n);
    const auto middle = begin + static_cast<std::ptrdiff_t>(n / 2);
    // NaN sorts last, so that invalid rows, which are refused later, cannot break the order.
    std::nth_element(begin, middle, begin + static_cast<std::ptrdiff_t>(n),
                     [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
    if (i == 0 || *middle < best_radius) {
      best = i;
      best_radius = *middle;
    }
  }
  return best;
}

template std::size_t MajorityCenter(const Rows&, Look);
template std::size_t MajorityCenter(const DoubleRows&, Look);

}  // namespace ostraka::aggregation
