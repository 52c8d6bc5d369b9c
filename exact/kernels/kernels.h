// The kernels that compute exact gradients, one set for each instruction set.
//
// Promise: all levels give equal bits for equal input bits, on every machine, compiler and
// optimization level. docs/numerics.md defines each kernel so that a third party can write it
// again; the comments here name its sections. All levels compile one text (kernels.inc) over a Pack
// of 16 floats, whose operations round as IEEE-754 defines. Products are fused into sums only where
// the text says Fma. No kernel uses libm, except for sqrt and the scalar level's fma, which
// IEEE-754 defines to the last bit.
//
// Every NaN that a kernel writes is kCanonicalNan: processors give NaNs different signs and
// payloads. Inputs may hold any NaN, infinities and subnormals.
//
// Thread safety: immutable tables of pure functions. A caller may cut an output into pieces and
// compute them on several threads: no element of an output depends on the cut.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ostraka::exact {

enum class Level { kScalar, kAvx2, kAvx512, kNeon };

inline constexpr Level kAllLevels[] = {Level::kScalar, Level::kAvx2, Level::kAvx512, Level::kNeon};
inline constexpr std::size_t kLanes = 16;

inline constexpr std::uint32_t kCanonicalNanBits = 0x7fc00000;
inline constexpr float kCanonicalNan = std::bit_cast<float>(kCanonicalNanBits);

// Element (i, j) of a matrix is data[i * stride + j], or data[j * stride + i] if transposed.
struct Matrix {
  const float* data = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

// out[i * out_stride + j] = the chain s = fma(left[i][k], right[k][j], s) over ascending k, from
// +0, or from the output's own value if `accumulate` (numerics.md 3). REQUIRES: all extents are
// positive; out does not overlap an operand.
struct Product {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  Matrix left;   // rows x depth
  Matrix right;  // depth x columns
  float* out = nullptr;
  std::size_t out_stride = 0;
  bool accumulate = false;
};

// Floats of scratch that `multiply` needs, whatever the product.
inline constexpr std::size_t kProductScratch = 640 * 1024;

// Elementwise functions of up to three inputs and a scalar s (numerics.md 4). For the backward
// forms a is the gradient of the result.
enum class Map : std::uint8_t {
  kAdd,               // a + b
  kSub,               // a - b
  kMul,               // a b
  kDiv,               // a / b
  kAddScalar,         // a + s
  kMulScalar,         // a s
  kDivScalar,         // a / s
  kRsqrt,             // 1 / sqrt(a)
  kTanh,              //
  kSigmoid,           //
  kSilu,              //
  kGelu,              // by erf
  kGeluTanh,          // the approximation by tanh
  kRelu,              //
  kDivBackward,       // gradient of the divisor: b the dividend, c the divisor
  kRsqrtBackward,     // b = rsqrt of the input
  kTanhBackward,      // b = tanh of the input
  kSigmoidBackward,   // b = sigmoid of the input
  kSiluBackward,      // b = the input
  kGeluBackward,      // b = the input
  kGeluTanhBackward,  // b = the input
  kReluBackward,      // b = the input
  kExp,               // for tests and the conformance digest
  kErf,               // for tests and the conformance digest
  kCount,
};
inline constexpr std::size_t kMapCount = static_cast<std::size_t>(Map::kCount);

// `out` may be any of the inputs. Inputs that a map does not have are null.
struct MapArguments {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  float scalar = 0;
  float* out = nullptr;
  std::size_t count = 0;
};

// What a normalization keeps of a row for its gradient.
struct RowStatistics {
  float mean = 0;               // +0 for rms_norm
  float inverse_deviation = 0;  // 1 / sqrt(variance + epsilon)
};

// One row of layer_norm (`centered`, with a bias) or rms_norm (no bias).
struct NormRow {
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  std::size_t count = 0;
  float epsilon = 0;
  float* out = nullptr;
};

// The columns [begin, end) of the weight's and bias's gradients, over all rows.
struct NormColumns {
  const float* gradient = nullptr;    // row_count x width
  const float* x = nullptr;           // row_count x width
  const float* statistics = nullptr;  // of each row: mean, inverse deviation
  std::size_t row_count = 0;
  std::size_t width = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;  // null for rms_norm
};

struct Kernels {
  Level level = Level::kScalar;

  void (*multiply)(const Product& product, float* scratch);

  std::array<void (*)(const MapArguments&), kMapCount> maps;

  // Sums along a row in 16 lanes (numerics.md 2).
  float (*sum)(const float* x, std::size_t count);
  float (*dot)(const float* x, const float* y, std::size_t count);

  // out[c] = the sum of rows x[r * stride + c] over ascending r, from +0, for c < columns.
  void (*sum_rows)(const float* x, std::size_t row_count, std::size_t stride, std::size_t columns,
                   float* out);

  // Softmax of the first `visible` of `count` values; the others become +0. `out` may be x.
  // REQUIRES: visible <= count.
  void (*softmax)(const float* x, std::size_t visible, std::size_t count, float* out);
  // out = (gradient - dot(gradient, y)) y. `out` may be the gradient.
  void (*softmax_backward)(const float* gradient, const float* y, std::size_t count, float* out);

  // -log softmax(x)[target]. REQUIRES: target < count.
  float (*cross_entropy)(const float* x, std::size_t count, std::size_t target);
  // out = (softmax(x) - 1 at the target) scale.
  void (*cross_entropy_backward)(const float* x, std::size_t count, std::size_t target, float scale,
                                 float* out);

  RowStatistics (*layer_norm)(const NormRow& row);
  RowStatistics (*rms_norm)(const NormRow& row);
  // row.out = the gradient of row.x, from the gradient of the normalized row; row.bias is not read.
  void (*layer_norm_backward)(const NormRow& row, const float* gradient, RowStatistics statistics);
  void (*rms_norm_backward)(const NormRow& row, const float* gradient, RowStatistics statistics);
  void (*norm_columns)(const NormColumns& columns);

  void RunMap(Map map, const MapArguments& arguments) const {
    maps[static_cast<std::size_t>(map)](arguments);
  }
};

std::string_view LevelName(Level level);
// True if this machine can run `level`. kScalar always can.
bool IsSupported(Level level);
// REQUIRES: IsSupported(level).
const Kernels& KernelsFor(Level level);
// The widest supported level.
const Kernels& BestKernels();

}  // namespace ostraka::exact
