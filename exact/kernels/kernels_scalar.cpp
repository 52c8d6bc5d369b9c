// The reference level: plain C++ for any machine. The other levels must equal it bit for bit.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "exact/kernels/levels.h"
#include "exact/kernels/logarithm.h"

static_assert(FLT_EVAL_METHOD == 0, "float operations must round to float32 one by one");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559);

namespace ostraka::exact {
namespace {

#define OSTRAKA_TARGET
#define OSTRAKA_OP inline

struct Pack {
  float lane[kLanes];
};
struct Mask {
  bool lane[kLanes];
};

inline Pack Load(const float* values) {
  Pack result;
  std::memcpy(result.lane, values, sizeof(result.lane));
  return result;
}
inline void StoreRaw(float* values, const Pack& pack) {
  std::memcpy(values, pack.lane, sizeof(pack.lane));
}
inline Pack Broadcast(float value) {
  Pack result;
  for (float& lane : result.lane) lane = value;
  return result;
}
inline Pack Add(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] += b.lane[i];
  return a;
}
inline Pack Sub(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] -= b.lane[i];
  return a;
}
inline Pack Mul(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] *= b.lane[i];
  return a;
}
inline Pack Div(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] /= b.lane[i];
  return a;
}
inline Pack Fma(const Pack& a, const Pack& b, Pack c) {
  for (std::size_t i = 0; i < kLanes; ++i) c.lane[i] = std::fma(a.lane[i], b.lane[i], c.lane[i]);
  return c;
}
inline Pack Sqrt(Pack a) {
  for (float& lane : a.lane) lane = std::sqrt(lane);
  return a;
}
// False where either is NaN.
inline Mask Less(const Pack& a, const Pack& b) {
  Mask result;
  for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] < b.lane[i];
  return result;
}
inline Mask IsNan(const Pack& a) {
  Mask result;
  for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] != a.lane[i];
  return result;
}
inline Pack Select(const Mask& mask, const Pack& yes, Pack no) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (mask.lane[i]) no.lane[i] = yes.lane[i];
  }
  return no;
}
inline Pack Abs(Pack a) {
  for (float& lane : a.lane) {
    lane = std::bit_cast<float>(std::bit_cast<std::uint32_t>(lane) & 0x7fffffff);
  }
  return a;
}
// The magnitude of `a` with the sign of `sign`. REQUIRES: no sign bit in `a`.
inline Pack WithSign(Pack a, const Pack& sign) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::uint32_t bit = std::bit_cast<std::uint32_t>(sign.lane[i]) & 0x80000000;
    a.lane[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.lane[i]) | bit);
  }
  return a;
}
// Adds the low 9 bits of `shifted` to the exponents of `a`, modulo 2^32.
inline Pack AddToExponent(Pack a, const Pack& shifted) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    a.lane[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.lane[i]) +
                                     (std::bit_cast<std::uint32_t>(shifted.lane[i]) << 23));
  }
  return a;
}

// out[j * out_stride + i] = in[i * stride + j] for i, j < 4.
inline void Transpose4(const float* in, std::size_t stride, float* out, std::size_t out_stride) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) out[j * out_stride + i] = in[i * stride + j];
  }
}

// The register of matrix products.
using Vec = float;
constexpr std::size_t kVecWidth = 1;
constexpr std::size_t kDepthBlock = 256;
inline Vec ZeroVec() { return 0; }
inline Vec LoadVec(const float* values) { return *values; }
inline void StoreVec(float* values, Vec a) { *values = a; }
inline Vec BroadcastVec(float value) { return value; }
inline Vec FmaVec(Vec a, Vec b, Vec c) { return std::fma(a, b, c); }
inline Vec CanonicalVec(Vec a) { return a != a ? kCanonicalNan : a; }
constexpr std::size_t kTileRowCount = 4;
constexpr std::size_t kTileVecCount = 4;
constexpr std::size_t kNarrowRows = 8;
constexpr std::size_t kFlatRows = 2;
constexpr std::size_t kFlatVecs = 8;

#include "exact/kernels/kernels.inc"

}  // namespace

const Kernels kScalarKernels = OSTRAKA_EXACT_TABLE(Level::kScalar);

}  // namespace ostraka::exact
