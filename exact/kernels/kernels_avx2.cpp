// A Pack is two 256-bit registers. The target has fused operations, so this file relies on
// -ffp-contract=off (cmake/OstrakaBuild.cmake); the bit-identity tests detect its absence.
#include "exact/kernels/levels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "exact/kernels/logarithm.h"

namespace ostraka::exact {
namespace {

#define OSTRAKA_TARGET __attribute__((target("avx2,fma")))
#define OSTRAKA_OP OSTRAKA_TARGET inline __attribute__((always_inline))

struct Pack {
  __m256 low;   // lanes 0..7
  __m256 high;  // lanes 8..15
};
using Mask = Pack;  // all bits of a lane, or none

OSTRAKA_OP Pack Load(const float* values) {
  return {_mm256_loadu_ps(values), _mm256_loadu_ps(values + 8)};
}
OSTRAKA_OP void StoreRaw(float* values, Pack a) {
  _mm256_storeu_ps(values, a.low);
  _mm256_storeu_ps(values + 8, a.high);
}
OSTRAKA_OP Pack Broadcast(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
OSTRAKA_OP Pack Add(Pack a, Pack b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
OSTRAKA_OP Pack Sub(Pack a, Pack b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
OSTRAKA_OP Pack Mul(Pack a, Pack b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
OSTRAKA_OP Pack Div(Pack a, Pack b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
OSTRAKA_OP Pack Fma(Pack a, Pack b, Pack c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
OSTRAKA_OP Pack Sqrt(Pack a) { return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)}; }
OSTRAKA_OP Mask Less(Pack a, Pack b) {
  return {_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ)};
}
OSTRAKA_OP Mask IsNan(Pack a) {
  return {_mm256_cmp_ps(a.low, a.low, _CMP_UNORD_Q), _mm256_cmp_ps(a.high, a.high, _CMP_UNORD_Q)};
}
OSTRAKA_OP Pack Select(Mask mask, Pack yes, Pack no) {
  return {_mm256_blendv_ps(no.low, yes.low, mask.low),
          _mm256_blendv_ps(no.high, yes.high, mask.high)};
}
OSTRAKA_OP Pack Abs(Pack a) {
  const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  return {_mm256_and_ps(a.low, magnitude), _mm256_and_ps(a.high, magnitude)};
}
OSTRAKA_OP Pack WithSign(Pack a, Pack sign) {
  const __m256 bit = _mm256_set1_ps(-0.0F);
  return {_mm256_or_ps(a.low, _mm256_and_ps(sign.low, bit)),
          _mm256_or_ps(a.high, _mm256_and_ps(sign.high, bit))};
}
OSTRAKA_OP __m256 AddToExponentOf(__m256 a, __m256 shifted) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a),
                                              _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
OSTRAKA_OP Pack AddToExponent(Pack a, Pack shifted) {
  return {AddToExponentOf(a.low, shifted.low), AddToExponentOf(a.high, shifted.high)};
}

OSTRAKA_OP void Transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
  __m128 a = _mm_loadu_ps(in);
  __m128 b = _mm_loadu_ps(in + stride);
  __m128 c = _mm_loadu_ps(in + 2 * stride);
  __m128 d = _mm_loadu_ps(in + 3 * stride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(out, a);
  _mm_storeu_ps(out + out_stride, b);
  _mm_storeu_ps(out + 2 * out_stride, c);
  _mm_storeu_ps(out + 3 * out_stride, d);
}

using Vec = __m256;
constexpr std::size_t kVecWidth = 8;
constexpr std::size_t kDepthBlock = 256;
OSTRAKA_OP Vec ZeroVec() { return _mm256_setzero_ps(); }
OSTRAKA_OP Vec LoadVec(const float* values) { return _mm256_loadu_ps(values); }
OSTRAKA_OP void StoreVec(float* values, Vec a) { _mm256_storeu_ps(values, a); }
OSTRAKA_OP Vec BroadcastVec(float value) { return _mm256_set1_ps(value); }
OSTRAKA_OP Vec FmaVec(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
OSTRAKA_OP Vec CanonicalVec(Vec a) {
  return _mm256_blendv_ps(a, _mm256_set1_ps(kCanonicalNan), _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
// 6 x 2 accumulators, 2 columns of the right matrix and a broadcast: 15 of 16 registers.
constexpr std::size_t kTileRowCount = 6;
constexpr std::size_t kTileVecCount = 2;
constexpr std::size_t kNarrowRows = 12;
constexpr std::size_t kFlatRows = 4;
constexpr std::size_t kFlatVecs = 3;

#include "exact/kernels/kernels.inc"

}  // namespace

const Kernels kAvx2Kernels = OSTRAKA_EXACT_TABLE(Level::kAvx2);

}  // namespace ostraka::exact

#endif
