#include "exact/kernels/product.h"

#include <algorithm>
#include <cstdint>

#include "node/base/check.h"

namespace ostraka::exact {
namespace {

constexpr std::size_t kCacheLineFloats = 16;
// Fewer fused operations than this are not worth a second thread (about 0.1 ms).
constexpr std::size_t kOperationsWorthAThread = 4'000'000;
// Pieces begin at multiples of this, so that few tiles are cut.
constexpr std::size_t kPieceUnit = 32;

// `extent` in `pieces` parts, rounded up to whole units.
std::size_t PieceLength(std::size_t extent, std::size_t pieces) {
  const std::size_t length = (extent + pieces - 1) / pieces;
  return (length + kPieceUnit - 1) / kPieceUnit * kPieceUnit;
}

const float* LineOf(const Matrix& matrix, bool is_row, std::size_t index) {
  return matrix.data + (is_row != matrix.transposed ? index * matrix.stride : index);
}

}  // namespace

ProductScratch::ProductScratch(std::size_t threads)
    : threads_(threads), memory_(new float[threads * kProductScratch + kCacheLineFloats]) {
  OSTRAKA_CHECK(threads > 0);
}

float* ProductScratch::of(std::size_t thread) {
  OSTRAKA_CHECK(thread < threads_);
  constexpr std::uintptr_t kLineBytes = kCacheLineFloats * sizeof(float);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
  const std::uintptr_t aligned = (address + kLineBytes - 1) / kLineBytes * kLineBytes;
  return reinterpret_cast<float*>(aligned) + thread * kProductScratch;
}

void Multiply(const Kernels& kernels, const Executor& executor, const Product& product,
              ProductScratch& scratch) {
  const std::size_t operations = product.rows * product.columns * product.depth;
  const std::size_t wanted =
      std::clamp<std::size_t>(operations / kOperationsWorthAThread, 1, scratch.threads());
  const bool by_rows = product.rows >= product.columns;
  const std::size_t extent = by_rows ? product.rows : product.columns;
  const std::size_t length = PieceLength(extent, wanted);
  const std::size_t pieces = (extent + length - 1) / length;
  if (pieces == 1) return kernels.multiply(product, scratch.of(0));
  executor.ParallelFor(pieces, [&](std::size_t piece) {
    const std::size_t begin = piece * length;
    const std::size_t count = std::min(length, extent - begin);
    Product part = product;
    if (by_rows) {
      part.rows = count;
      part.left.data = LineOf(product.left, true, begin);
      part.out += begin * product.out_stride;
    } else {
      part.columns = count;
      part.right.data = LineOf(product.right, false, begin);
      part.out += begin;
    }
    kernels.multiply(part, scratch.of(piece));
  });
}

}  // namespace ostraka::exact
