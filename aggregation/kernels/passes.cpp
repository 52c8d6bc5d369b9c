#include "aggregation/kernels/passes.h"

#include <algorithm>
#include <cstdint>

namespace ostraka::aggregation {
namespace {

using simd::kBlock;

// Enough chunks for a few threads, few enough that n^2 sums per chunk stay small.
constexpr std::size_t kMaxChunks = 64;
constexpr std::size_t kMinChunkLength = 8 * kBlock;

// `count` zero values, aligned to a cache line. Otherwise loads of a whole register would span two
// lines, which costs kernels up to a quarter of their speed.
template <typename Value>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t count) : memory_(count + kLine / sizeof(Value)) {
    const auto past = reinterpret_cast<std::uintptr_t>(memory_.data()) % kLine;
    if (past != 0) begin_ = (kLine - past) / sizeof(Value);
  }
  Value* data() { return memory_.data() + begin_; }

 private:
  static constexpr std::size_t kLine = 64;
  std::vector<Value> memory_;
  std::size_t begin_ = 0;
};

std::size_t DivideUp(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Adds `count` sums of each chunk in chunk order; those of chunk k are at partial[k * count].
std::vector<double> AddChunks(const std::vector<double>& partial, std::size_t count) {
  std::vector<double> total(count, 0.0);
  for (std::size_t begin = 0; begin < partial.size(); begin += count) {
    for (std::size_t i = 0; i < count; ++i) total[i] += partial[begin + i];
  }
  return total;
}

bool AllTrue(const std::vector<char>& flags) {
  return std::find(flags.begin(), flags.end(), 0) == flags.end();
}

// The map as a full matrix if at least half of it is nonzero; else empty.
std::vector<double> DenseWeights(const LinearMap& map, std::size_t n) {
  std::size_t entries = 0;
  for (const LinearMap::OutputRow& row : map.rows) entries += row.index.size();
  if (2 * entries < map.rows.size() * n) return {};
  std::vector<double> dense(map.rows.size() * n, 0.0);
  for (std::size_t k = 0; k < map.rows.size(); ++k) {
    const LinearMap::OutputRow& row = map.rows[k];
    for (std::size_t e = 0; e < row.index.size(); ++e) dense[k * n + row.index[e]] = row.weight[e];
  }
  return dense;
}

}  // namespace

Chunks CutChunks(std::size_t dimension) {
  const std::size_t even_share = DivideUp(DivideUp(dimension, kMaxChunks), kBlock) * kBlock;
  const std::size_t length = std::max(kMinChunkLength, even_share);
  return {DivideUp(dimension, length), length};
}

template <typename T>
template <typename Scratch>
void BasicPasses<T>::ForEachBlock(
    std::size_t scratch,
    const std::function<void(std::size_t, const Block&, Scratch*)>& body) const {
  executor_.ParallelFor(chunks_.count, [&](std::size_t chunk) {
    AlignedBuffer<Scratch> buffer(scratch);
    const std::size_t end = std::min(rows_.dimension, (chunk + 1) * chunks_.length);
    for (std::size_t offset = chunk * chunks_.length; offset < end; offset += kBlock) {
      const std::size_t length = std::min(kBlock, end - offset);
      body(chunk, Block{rows_.row.data(), rows_.count(), offset, length}, buffer.data());
    }
  });
}

template <typename T>
std::vector<double> BasicPasses<T>::OverPairs(const T* center,
                                              void (*kernel)(const double*, std::size_t,
                                                             const Block&, double*)) const {
  const std::size_t n = rows_.count();
  const std::size_t size = simd::TriangleSize(n);
  std::vector<double> partial(chunks_.count * size, 0.0);
  ForEachBlock<double>(simd::PaddedRows(n) * kBlock,
                       [&](std::size_t chunk, const Block& block, double* buffer) {
                         kernels_.Of<T>().center(block, center, buffer);
                         Block ahead = block;
                         if (block.offset + 2 * kBlock <= rows_.dimension) ahead.offset += kBlock;
                         kernel(buffer, block.length, ahead, &partial[chunk * size]);
                       });
  return AddChunks(partial, size);
}

template <typename T>
std::vector<double> BasicPasses<T>::Gram(const T* center) const {
  return OverPairs(center, kernels_.Of<T>().gram);
}

template <typename T>
std::vector<double> BasicPasses<T>::SquaredDistances() const {
  return OverPairs(nullptr, kernels_.Of<T>().distances);
}

template <typename T>
std::vector<double> BasicPasses<T>::SquaredNorms(const T* center) const {
  const std::size_t n = rows_.count();
  std::vector<double> partial(chunks_.count * n, 0.0);
  const std::vector<double> no_weights(n, 0.0);
  ForEachBlock<char>(0, [&](std::size_t chunk, const Block& block, char*) {
    double* sums = &partial[chunk * n];
    if (center != nullptr) {
      double ignored = 0;
      kernels_.Of<T>().measure(block, center, no_weights.data(), sums, &ignored);
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] += kernels_.Of<T>().squared_norm(block.rows[i] + block.offset, block.length);
    }
  });
  return AddChunks(partial, n);
}

template <typename T>
Measurement<double> BasicPasses<T>::MeasureWith(
    const T* center, std::span<const double> weights,
    const std::function<void(const Block&)>& before) const {
  const std::size_t n = rows_.count();
  const std::size_t size = n + 2;
  std::vector<double> partial(chunks_.count * size, 0.0);
  ForEachBlock<char>(0, [&](std::size_t chunk, const Block& block, char*) {
    before(block);
    double* sums = &partial[chunk * size];
    kernels_.Of<T>().measure(block, center, weights.data(), sums, sums + n);
    sums[n + 1] += kernels_.Of<T>().squared_norm(center + block.offset, block.length);
  });
  std::vector<double> total = AddChunks(partial, size);
  Measurement<double> measurement;
  measurement.squared_residual = total[n];
  measurement.squared_center = total[n + 1];
  total.resize(n);
  measurement.squared_distances = std::move(total);
  return measurement;
}

template <typename T>
Measurement<double> BasicPasses<T>::Measure(const T* center,
                                            std::span<const double> weights) const {
  return MeasureWith(center, weights, [](const Block&) {});
}

template <typename T>
Measurement<double> BasicPasses<T>::CombineAndMeasure(const T* center,
                                                      std::span<const double> coefficients,
                                                      std::span<const double> weights,
                                                      T* out) const {
  return MeasureWith(out, weights, [&](const Block& block) {
    kernels_.Of<T>().combine(block, center, coefficients.data(), out);
  });
}

template <typename T>
bool BasicPasses<T>::Mean(T* out) const {
  std::vector<char> finite(chunks_.count, 1);
  ForEachBlock<char>(0, [&](std::size_t chunk, const Block& block, char*) {
    if (!kernels_.Of<T>().mean(block, out)) finite[chunk] = 0;
  });
  return AllTrue(finite);
}

template <typename T>
bool BasicPasses<T>::Columns(const simd::ColumnPlan& plan, T* out,
                             std::vector<double>* squares) const {
  const std::size_t n = rows_.count();
  std::vector<char> finite(chunks_.count, 1);
  std::vector<double> partial(squares == nullptr ? 0 : chunks_.count * n, 0.0);
  const std::vector<double> no_weights(n, 0.0);
  ForEachBlock<T>(n * kBlock, [&](std::size_t chunk, const Block& block, T* scratch) {
    std::vector<double> flags((plan.trim + 1) * simd::kLanes);
    if (!kernels_.Of<T>().columns(block, plan, scratch, flags.data(), out)) {
      finite[chunk] = 0;
    }
    if (squares == nullptr) return;
    double ignored = 0;
    kernels_.Of<T>().measure(block, out, no_weights.data(), &partial[chunk * n], &ignored);
  });
  if (squares != nullptr) *squares = AddChunks(partial, n);
  return AllTrue(finite);
}

template <typename T>
void BasicPasses<T>::Mix(const LinearMap& map, T* out) const {
  const std::size_t n = rows_.count();
  const std::size_t d = rows_.dimension;
  const std::vector<double> dense = DenseWeights(map, n);
  ForEachBlock<double>(
      simd::PaddedRows(n) * kBlock, [&](std::size_t, const Block& block, double* buffer) {
        kernels_.Of<T>().center(block, nullptr, buffer);
        std::size_t k = 0;
        for (; !dense.empty() && k + 4 <= map.rows.size(); k += 4) {
          T* const four[] = {out + k * d + block.offset, out + (k + 1) * d + block.offset,
                             out + (k + 2) * d + block.offset, out + (k + 3) * d + block.offset};
          kernels_.Of<T>().mix_four(buffer, &dense[k * n], n, block.length, four);
        }
        for (; k < map.rows.size(); ++k) {
          const LinearMap::OutputRow& row = map.rows[k];
          kernels_.Of<T>().mix(buffer, {row.index.data(), row.weight.data(), row.index.size()},
                               block.length, out + k * d + block.offset);
        }
      });
}

template class BasicPasses<float>;
template class BasicPasses<double>;

}  // namespace ostraka::aggregation
