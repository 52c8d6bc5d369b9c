#include "aggregation/kernels/wide_passes.h"

#include <algorithm>
#include <limits>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation {
namespace {

// a - b exactly: the difference of two values fits into two doubles.
template <typename T>
Wide Difference(T a, T b) {
  return ExactSum(static_cast<double>(a), -static_cast<double>(b));
}

// Rounds into T's finite range, never to -0, as the kernels do.
template <typename T>
T RoundTo(const Wide& value) {
  constexpr double kLargest = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(value.high, -kLargest, kLargest)) + T{0};
}

}  // namespace

template <typename T>
std::vector<Wide> BasicWidePasses<T>::SumOverCoordinates(
    std::size_t size, const std::function<void(std::size_t, std::span<Wide>)>& body) const {
  std::vector<Wide> partial(chunks_.count * size);
  executor_.ParallelFor(chunks_.count, [&](std::size_t chunk) {
    const std::span<Wide> sums = std::span<Wide>(partial).subspan(chunk * size, size);
    const std::size_t end = std::min(rows_.dimension, (chunk + 1) * chunks_.length);
    for (std::size_t c = chunk * chunks_.length; c < end; ++c) body(c, sums);
  });
  std::vector<Wide> total(size);
  for (std::size_t i = 0; i < partial.size(); ++i) total[i % size] += partial[i];
  return total;
}

template <typename T>
std::vector<Wide> BasicWidePasses<T>::Gram(const T* center) const {
  const std::size_t n = rows_.count();
  return SumOverCoordinates(simd::TriangleSize(n), [&](std::size_t c, std::span<Wide> sums) {
    for (std::size_t i = 0; i < n; ++i) {
      const Wide left = Difference(rows_.row[i][c], center[c]);
      for (std::size_t j = 0; j <= i; ++j) {
        sums[simd::TriangleIndex(i, j)] += left * Difference(rows_.row[j][c], center[c]);
      }
    }
  });
}

template <typename T>
Measurement<Wide> BasicWidePasses<T>::Measure(const T* center,
                                              std::span<const Wide> weights) const {
  const std::size_t n = rows_.count();
  std::vector<Wide> total = SumOverCoordinates(n + 2, [&](std::size_t c, std::span<Wide> sums) {
    Wide residual;
    for (std::size_t i = 0; i < n; ++i) {
      const Wide difference = Difference(rows_.row[i][c], center[c]);
      sums[i] += difference * difference;
      residual += weights[i] * difference;
    }
    sums[n] += residual * residual;
    sums[n + 1] += ExactProduct(static_cast<double>(center[c]), static_cast<double>(center[c]));
  });
  Measurement<Wide> measurement;
  measurement.squared_residual = total[n];
  measurement.squared_center = total[n + 1];
  total.resize(n);
  measurement.squared_distances = std::move(total);
  return measurement;
}

template <typename T>
Measurement<Wide> BasicWidePasses<T>::CombineAndMeasure(const T* center,
                                                        std::span<const Wide> coefficients,
                                                        std::span<const Wide> weights,
                                                        T* out) const {
  SumOverCoordinates(0, [&](std::size_t c, std::span<Wide>) {
    Wide value = static_cast<double>(center[c]);
    for (std::size_t i = 0; i < rows_.count(); ++i) {
      value += coefficients[i] * Difference(rows_.row[i][c], center[c]);
    }
    out[c] = RoundTo<T>(value);
  });
  return Measure(out, weights);
}

template class BasicWidePasses<float>;
template class BasicWidePasses<double>;

}  // namespace ostraka::aggregation
