// A Pack is one 512-bit register. AVX-512F has fused operations, so this file relies on
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

#define OSTRAKA_TARGET __attribute__((target("avx512f")))
#define OSTRAKA_OP OSTRAKA_TARGET inline __attribute__((always_inline))

// g++ 12 warns of uninitialised registers inside its own unmasked intrinsics; with a full mask the
// zeroing forms compile to the same instructions.
constexpr __mmask16 kAllLanes = 0xffff;

struct Pack {
  __m512 value;
};
using Mask = __mmask16;

OSTRAKA_OP Pack Load(const float* values) { return {_mm512_loadu_ps(values)}; }
OSTRAKA_OP void StoreRaw(float* values, Pack a) { _mm512_storeu_ps(values, a.value); }
OSTRAKA_OP Pack Broadcast(float value) { return {_mm512_set1_ps(value)}; }
OSTRAKA_OP Pack Add(Pack a, Pack b) { return {_mm512_add_ps(a.value, b.value)}; }
OSTRAKA_OP Pack Sub(Pack a, Pack b) { return {_mm512_sub_ps(a.value, b.value)}; }
OSTRAKA_OP Pack Mul(Pack a, Pack b) { return {_mm512_mul_ps(a.value, b.value)}; }
OSTRAKA_OP Pack Div(Pack a, Pack b) { return {_mm512_div_ps(a.value, b.value)}; }
OSTRAKA_OP Pack Fma(Pack a, Pack b, Pack c) { return {_mm512_fmadd_ps(a.value, b.value, c.value)}; }
OSTRAKA_OP Pack Sqrt(Pack a) { return {_mm512_maskz_sqrt_ps(kAllLanes, a.value)}; }
OSTRAKA_OP Mask Less(Pack a, Pack b) { return _mm512_cmp_ps_mask(a.value, b.value, _CMP_LT_OQ); }
OSTRAKA_OP Mask IsNan(Pack a) { return _mm512_cmp_ps_mask(a.value, a.value, _CMP_UNORD_Q); }
OSTRAKA_OP Pack Select(Mask mask, Pack yes, Pack no) {
  return {_mm512_mask_mov_ps(no.value, mask, yes.value)};
}
OSTRAKA_OP Pack Abs(Pack a) {
  return {_mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(a.value), _mm512_set1_epi32(0x7fffffff)))};
}
OSTRAKA_OP Pack WithSign(Pack a, Pack sign) {
  const __m512i bit = _mm512_and_si512(_mm512_castps_si512(sign.value),
                                       _mm512_set1_epi32(std::numeric_limits<int>::min()));
  return {_mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(a.value), bit))};
}
OSTRAKA_OP Pack AddToExponent(Pack a, Pack shifted) {
  const __m512i exponent =
      _mm512_maskz_slli_epi32(kAllLanes, _mm512_castps_si512(shifted.value), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a.value), exponent))};
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

using Vec = __m512;
constexpr std::size_t kVecWidth = 16;
constexpr std::size_t kDepthBlock = 384;
OSTRAKA_OP Vec ZeroVec() { return _mm512_setzero_ps(); }
OSTRAKA_OP Vec LoadVec(const float* values) { return _mm512_loadu_ps(values); }
OSTRAKA_OP void StoreVec(float* values, Vec a) { _mm512_storeu_ps(values, a); }
OSTRAKA_OP Vec BroadcastVec(float value) { return _mm512_set1_ps(value); }
OSTRAKA_OP Vec FmaVec(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
OSTRAKA_OP Vec CanonicalVec(Vec a) {
  return _mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q),
                            _mm512_set1_ps(kCanonicalNan));
}
// 14 x 2 accumulators, 2 columns of the right matrix and a broadcast: 31 of 32 registers.
constexpr std::size_t kTileRowCount = 14;
constexpr std::size_t kTileVecCount = 2;
constexpr std::size_t kNarrowRows = 28;
constexpr std::size_t kFlatRows = 8;
constexpr std::size_t kFlatVecs = 2;

#include "exact/kernels/kernels.inc"

}  // namespace

const Kernels kAvx512Kernels = OSTRAKA_EXACT_TABLE(Level::kAvx512);

}  // namespace ostraka::exact

#endif
