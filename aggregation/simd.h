// The vector kernels below every rule of this folder, once for each instruction set.
//
// Promise: every level gives the same bits. All levels compile one text (simd_kernels.inc) over a
// Pack of eight doubles, whose operations round as IEEE-754 says, never fused. The order is part of
// the contract: coordinate c of a block goes to lane c % 8, a lane adds in ascending order, lanes
// add as ((0+4)+(2+6))+((1+5)+(3+7)), blocks of 256 coordinates add in ascending order.
//
// Rules and functions choose BestKernels() by themselves; tests pass a level.
// Thread safety: immutable tables of pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ostraka::aggregation::simd {

enum class Level { kScalar, kAvx2, kAvx512 };

inline constexpr Level kAllLevels[] = {Level::kScalar, Level::kAvx2, Level::kAvx512};
inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kBlock = 256;  // coordinates; a multiple of kLanes

// Rows of a Gram buffer are padded with zero rows to a multiple of this.
inline constexpr std::size_t kRowPadding = 4;

constexpr std::size_t PaddedRows(std::size_t rows) {
  return (rows + kRowPadding - 1) / kRowPadding * kRowPadding;
}
// Where <D_i, D_j>, j <= i, stands in a packed lower triangle.
constexpr std::size_t TriangleIndex(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }
constexpr std::size_t TriangleSize(std::size_t n) { return n * (n + 1) / 2; }

// `length` coordinates of every row, from `offset` on. REQUIRES: length <= kBlock.
struct BlockOfRows {
  const float* const* rows = nullptr;
  std::size_t row_count = 0;
  std::size_t offset = 0;
  std::size_t length = 0;
};

struct Kernels {
  Level level = Level::kScalar;

  // buffer[i * kBlock + c] = row_i - center, zero where c >= length.
  // REQUIRES: buffer holds PaddedRows(row_count) * kBlock doubles; padding rows are zero already.
  void (*center)(const BlockOfRows& block, const float* center, double* buffer);

  // gram[TriangleIndex(i, j)] += <buffer row i, buffer row j> for j <= i < row_count.
  void (*gram)(const double* buffer, std::size_t row_count, std::size_t length, double* gram);

  // out = center + sum_i coefficient_i (row_i - center), in row order, then rounded to float32
  // within the finite range; never -0. `center` and `out` are whole vectors.
  void (*combine)(const BlockOfRows& block, const float* center, const double* coefficients,
                  float* out);

  // squared_norms[i] += |row_i - center|^2 and
  // *squared_residual += |sum_i weight_i (row_i - center)|^2, over the block.
  void (*measure)(const BlockOfRows& block, const float* center, const double* weights,
                  double* squared_norms, double* squared_residual);

  // out = (sum of rows in row order) / row_count, never -0. False if a value is not finite.
  bool (*mean)(const BlockOfRows& block, float* out);

  // True if every value is finite.
  bool (*all_finite)(const float* values, std::size_t length);

  // The sum of squares of at most kBlock values.
  double (*squared_norm)(const float* values, std::size_t length);

  // sums[k] += <+-1, part - center> for four planes of sign bits, and
  // *squared_norm += |part - center|^2. `signs[k]` is the plane's first byte for this block.
  void (*project)(const float* part, const float* center, std::size_t length,
                  const std::uint8_t* const* signs, double* sums, double* squared_norm);

  // v = momentum v + g; x = x - rate (v + decay x), each operation rounded to float32.
  void (*sgd)(float rate, float momentum, float decay, const float* gradient, float* parameters,
              float* velocity, std::size_t length);
};

std::string_view LevelName(Level level);
// True if this machine can run `level`. kScalar always can.
bool IsSupported(Level level);
// REQUIRES: IsSupported(level).
const Kernels& KernelsFor(Level level);
// The widest supported level.
const Kernels& BestKernels();

}  // namespace ostraka::aggregation::simd
