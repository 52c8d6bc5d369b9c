#include "aggregation/passes.h"

#include <algorithm>

namespace ostraka::aggregation {
namespace {

using simd::BlockOfRows;
using simd::kBlock;

// Enough chunks to keep a few threads busy, few enough that n^2 sums a chunk stay small.
constexpr std::size_t kMaxChunks = 64;
constexpr std::size_t kMinChunkLength = 8 * kBlock;

std::size_t DivideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Adds `count` sums of each chunk in chunk order; chunk k's stand at partial[k * count].
std::vector<double> AddChunks(const std::vector<double>& partial, std::size_t count) {
  std::vector<double> total(count, 0.0);
  for (std::size_t i = 0; i < partial.size(); ++i) total[i % count] += partial[i];
  return total;
}

}  // namespace

Chunks CutChunks(std::size_t dimension) {
  const std::size_t even_share = DivideUp(DivideUp(dimension, kMaxChunks), kBlock) * kBlock;
  const std::size_t length = std::max(kMinChunkLength, even_share);
  return {DivideUp(dimension, length), length};
}

Passes::Passes(const Rows& rows, const Executor& executor, const simd::Kernels& kernels)
    : rows_(rows), executor_(executor), kernels_(kernels), chunks_(CutChunks(rows.dimension)) {}

void Passes::ForEachBlock(const std::function<void(std::size_t, const BlockOfRows&)>& body) const {
  executor_.ParallelFor(chunks_.count, [&](std::size_t chunk) {
    const std::size_t end = std::min(rows_.dimension, (chunk + 1) * chunks_.length);
    for (std::size_t offset = chunk * chunks_.length; offset < end; offset += kBlock) {
      body(chunk, {rows_.row.data(), rows_.count(), offset, std::min(kBlock, end - offset)});
    }
  });
}

std::vector<double> Passes::Gram(const float* center) const {
  const std::size_t n = rows_.count();
  const std::size_t size = simd::TriangleSize(n);
  std::vector<double> partial(chunks_.count * size, 0.0);
  executor_.ParallelFor(chunks_.count, [&](std::size_t chunk) {
    std::vector<double> centered(simd::PaddedRows(n) * kBlock, 0.0);
    const std::size_t end = std::min(rows_.dimension, (chunk + 1) * chunks_.length);
    for (std::size_t offset = chunk * chunks_.length; offset < end; offset += kBlock) {
      const std::size_t length = std::min(kBlock, end - offset);
      kernels_.center({rows_.row.data(), n, offset, length}, center, centered.data());
      kernels_.gram(centered.data(), n, length, &partial[chunk * size]);
    }
  });
  return AddChunks(partial, size);
}

Measurement<double> Passes::MeasureWith(
    const float* center, std::span<const double> weights,
    const std::function<void(const BlockOfRows&)>& before) const {
  const std::size_t n = rows_.count();
  const std::size_t size = n + 2;
  std::vector<double> partial(chunks_.count * size, 0.0);
  ForEachBlock([&](std::size_t chunk, const BlockOfRows& block) {
    before(block);
    double* sums = &partial[chunk * size];
    kernels_.measure(block, center, weights.data(), sums, sums + n);
    sums[n + 1] += kernels_.squared_norm(center + block.offset, block.length);
  });
  std::vector<double> total = AddChunks(partial, size);
  Measurement<double> measurement;
  measurement.squared_residual = total[n];
  measurement.squared_center = total[n + 1];
  total.resize(n);
  measurement.squared_distances = std::move(total);
  return measurement;
}

Measurement<double> Passes::Measure(const float* center, std::span<const double> weights) const {
  return MeasureWith(center, weights, [](const BlockOfRows&) {});
}

Measurement<double> Passes::CombineAndMeasure(const float* center,
                                              std::span<const double> coefficients,
                                              std::span<const double> weights, float* out) const {
  return MeasureWith(out, weights, [&](const BlockOfRows& block) {
    kernels_.combine(block, center, coefficients.data(), out);
  });
}

bool Passes::Mean(float* out) const {
  std::vector<char> finite(chunks_.count, 1);
  ForEachBlock([&](std::size_t chunk, const BlockOfRows& block) {
    if (!kernels_.mean(block, out)) finite[chunk] = 0;
  });
  return std::find(finite.begin(), finite.end(), 0) == finite.end();
}

}  // namespace ostraka::aggregation
