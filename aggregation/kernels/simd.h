// The vector kernels for all rules of this folder, one set for each instruction set.
//
// Promise: all levels give equal bits. All levels compile one text (simd_kernels.inc) over a Pack
// of eight doubles, whose operations round as IEEE-754 defines. Products are fused into sums only
// where the text says Fma. The order is part of the contract: coordinate c of a block goes to lane
// c % 8, a lane adds in ascending order, lanes add as ((0+4)+(2+6))+((1+5)+(3+7)), blocks of 256
// coordinates add in ascending order.
//
// Rules and functions use BestKernels() by default; tests pass a level. Thread safety: immutable
// tables of pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

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
// Index of <D_i, D_j>, j <= i, in a packed lower triangle.
constexpr std::size_t TriangleIndex(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }
constexpr std::size_t TriangleSize(std::size_t n) { return n * (n + 1) / 2; }

// `length` coordinates of every row, from `offset` on. T is float or double.
// REQUIRES: length <= kBlock.
template <typename T>
struct BasicBlock {
  const T* const* rows = nullptr;
  std::size_t row_count = 0;
  std::size_t offset = 0;
  std::size_t length = 0;
};
using BlockOfRows = BasicBlock<float>;

// One step of a sorting network: row `low` gets the smaller value and row `high` the larger. A
// result that is never read again may be left unwritten.
struct Comparator {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  bool keep_low = true;
  bool keep_high = true;
};

// The reduction of a column. x is the column in ascending order, n its length; sums run in
// ascending order in double.
enum class ColumnRule {
  kMedian,       // midpoint of x[(n-1)/2] and x[n/2]
  kLowerMedian,  // x[(n-1)/2]
  kTrimmedMean,  // the mean of x[trim] .. x[n-1-trim]
  kNearMedian,   // the mean of the n - trim values nearest to the median; ties: the lower value
  kNearTrimmed,  // as kNearMedian, but nearest to the trimmed mean with `center_trim`
  kSign,         // the sign of the sum of signs; not sorted
};

struct ColumnPlan {
  const Comparator* comparators = nullptr;
  std::size_t comparator_count = 0;
  ColumnRule rule = ColumnRule::kMedian;
  std::size_t trim = 0;
  std::size_t center_trim = 0;
};

// One row of a linear map: sum_k weight[k] row[index[k]].
struct MixRow {
  const std::uint32_t* index = nullptr;
  const double* weight = nullptr;
  std::size_t count = 0;
};

// Kernels that read or write values of type T. Results are rounded to T once, within its finite
// range, and never -0.
template <typename T>
struct TypedKernels {
  // buffer[i * kBlock + c] = row_i - center, or row_i where center is null; zero for lanes beyond
  // length. REQUIRES: buffer holds PaddedRows(row_count) * kBlock doubles; padding rows are zero.
  void (*center)(const BasicBlock<T>& block, const T* center, double* buffer);

  // gram[TriangleIndex(i, j)] += <buffer row i, buffer row j> for j <= i < row_count; distances
  // adds |buffer row i - buffer row j|^2, as squares of differences, so that nothing cancels.
  // Meanwhile the rows of `ahead` are prefetched: the block that is read next, or any other.
  // REQUIRES: `center` filled the buffer with `ahead.row_count` rows; length <= ahead.length.
  void (*gram)(const double* buffer, std::size_t length, const BasicBlock<T>& ahead, double* gram);
  void (*distances)(const double* buffer, std::size_t length, const BasicBlock<T>& ahead,
                    double* squares);

  // out = center + sum_i coefficient_i (row_i - center), in row order. Whole vectors.
  void (*combine)(const BasicBlock<T>& block, const T* center, const double* coefficients, T* out);

  // squared_norms[i] += |row_i - center|^2 and
  // *squared_residual += |sum_i weight_i (row_i - center)|^2, over the block.
  void (*measure)(const BasicBlock<T>& block, const T* center, const double* weights,
                  double* squared_norms, double* squared_residual);

  // out = (sum of rows in row order) / row_count. False if a value is not finite.
  bool (*mean)(const BasicBlock<T>& block, T* out);

  // True if every value is finite.
  bool (*all_finite)(const T* values, std::size_t length);

  // The sum of squares of at most kBlock values.
  double (*squared_norm)(const T* values, std::size_t length);

  // out[c] = plan.rule applied to column c. `scratch` holds row_count * kBlock values, `flags`
  // (trim + 1) * kLanes doubles. Returns false if a value is not finite; `out` is then meaningless.
  bool (*columns)(const BasicBlock<T>& block, const ColumnPlan& plan, T* scratch, double* flags,
                  T* out);

  // out[0..length) = the mixed rows of a buffer that `center` filled.
  void (*mix)(const double* buffer, const MixRow& row, std::size_t length, T* out);

  // Mixes four rows at once, out[k] from weights[k * row_count + i] for every row i. The bits equal
  // those of `mix` over the nonzero entries; faster if most entries are nonzero. REQUIRES: finite
  // rows.
  void (*mix_four)(const double* buffer, const double* weights, std::size_t row_count,
                   std::size_t length, T* const* out);
};

// What a step of AdamW or LAMB multiplies by (aggregation/optim/optimizer.h).
struct AdamFactors {
  float rate = 0;
  float decay = 0;
  float keep_first = 0;      // beta1
  float add_first = 0;       // 1 - beta1
  float keep_second = 0;     // beta2
  float add_second = 0;      // 1 - beta2
  float correct_first = 0;   // 1 / (1 - beta1^t)
  float correct_second = 0;  // 1 / sqrt(1 - beta2^t)
  float epsilon = 0;
};

struct Kernels : TypedKernels<float> {
  TypedKernels<double> float64;

  Level level = Level::kScalar;

  // sums[k] += <+-1, part - center> for four planes of sign bits, and
  // *squared_norm += |part - center|^2. `signs[k]` is the plane's first byte for this block.
  void (*project)(const float* part, const float* center, std::size_t length,
                  const std::uint8_t* const* signs, double* sums, double* squared_norm);

  // v = momentum v + g; x = x - rate (v + decay x), each operation rounded to float32.
  void (*sgd)(float rate, float momentum, float decay, const float* gradient, float* parameters,
              float* velocity, std::size_t length);
  // v = momentum v + g; x = x - rate ((g + momentum v) + decay x), rounded likewise.
  void (*nesterov)(float rate, float momentum, float decay, const float* gradient,
                   float* parameters, float* velocity, std::size_t length);
  // m = keep m + add g; v = keep v + add (g g); x = x - rate ((m correct) / (sqrt(v) correct +
  // epsilon) + decay x), rounded likewise.
  void (*adamw)(const AdamFactors& by, const float* gradient, float* parameters, float* first,
                float* second, std::size_t length);
  // The moments of adamw alone: parameters stay.
  void (*adam_moments)(const AdamFactors& by, const float* gradient, float* first, float* second,
                       std::size_t length);
  // out = (m correct) / (sqrt(v) correct + epsilon) + decay x, rounded likewise.
  void (*lamb_direction)(const AdamFactors& by, const float* parameters, const float* first,
                         const float* second, float* out, std::size_t length);
  // x = x - rate direction, with the direction of lamb_direction, rounded likewise.
  void (*lamb_move)(const AdamFactors& by, float* parameters, const float* first,
                    const float* second, std::size_t length);
  // dot(x, x) as docs/numerics.md, 2 has it: 16 lanes of binary32, each product fused into its sum.
  float (*dot_itself)(const float* values, std::size_t length);

  template <typename T>
  const TypedKernels<T>& Of() const {
    if constexpr (std::is_same_v<T, float>) {
      return *this;
    } else {
      return float64;
    }
  }
};

std::string_view LevelName(Level level);
// True if this machine can run `level`. kScalar always can.
bool IsSupported(Level level);
// REQUIRES: IsSupported(level).
const Kernels& KernelsFor(Level level);
// The widest supported level.
const Kernels& BestKernels();

// Replaces the result of BestKernels() during its lifetime, so that tests run whole rules at each
// level. REQUIRES: IsSupported(level); only one exists at a time; no rule runs while it is made or
// destroyed.
class ForcedLevel {
 public:
  explicit ForcedLevel(Level level);
  ~ForcedLevel();
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;
};

}  // namespace ostraka::aggregation::simd
