// A Pack is one 512-bit register. AVX-512F has fused operations, so this file relies on
// -ffp-contract=off (cmake/OstrakaBuild.cmake); the bit-identity tests detect its absence.
#include "aggregation/kernels/simd_levels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <limits>

namespace ostraka::aggregation::simd {
namespace {

#define OSTRAKA_TARGET __attribute__((target("avx512f")))
#define OSTRAKA_OP OSTRAKA_TARGET inline __attribute__((always_inline))

constexpr std::size_t kTile = 4;

// g++ 12 warns of uninitialised registers inside its own unmasked intrinsics; with a full mask the
// zeroing forms compile to the same instructions.
constexpr __mmask8 kAllLanes = 0xff;
constexpr __mmask16 kAllFloats = 0xffff;

struct Pack {
  __m512d value;
};
struct FloatPack {
  __m256 value;
};

OSTRAKA_OP Pack Zero() { return {_mm512_setzero_pd()}; }
OSTRAKA_OP Pack Broadcast(double value) { return {_mm512_set1_pd(value)}; }
OSTRAKA_OP Pack LoadPack(const double* values) { return {_mm512_loadu_pd(values)}; }
OSTRAKA_OP void StorePack(double* values, Pack pack) { _mm512_storeu_pd(values, pack.value); }
OSTRAKA_OP Pack Add(Pack a, Pack b) { return {_mm512_add_pd(a.value, b.value)}; }
OSTRAKA_OP Pack Sub(Pack a, Pack b) { return {_mm512_sub_pd(a.value, b.value)}; }
OSTRAKA_OP Pack Mul(Pack a, Pack b) { return {_mm512_mul_pd(a.value, b.value)}; }
OSTRAKA_OP Pack Fma(Pack a, Pack b, Pack c) { return {_mm512_fmadd_pd(a.value, b.value, c.value)}; }
OSTRAKA_OP Pack Less(Pack a, Pack b) {
  return {
      _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a.value, b.value, _CMP_LT_OQ), _mm512_set1_pd(1.0))};
}
OSTRAKA_OP Pack Div(Pack a, Pack b) { return {_mm512_div_pd(a.value, b.value)}; }
OSTRAKA_OP Pack Min(Pack a, Pack b) { return {_mm512_maskz_min_pd(kAllLanes, a.value, b.value)}; }
OSTRAKA_OP Pack Max(Pack a, Pack b) { return {_mm512_maskz_max_pd(kAllLanes, a.value, b.value)}; }
OSTRAKA_OP Pack FlipSigns(Pack a, std::uint8_t bits) {
  const __m512i lanes = _mm512_castpd_si512(a.value);
  const __m512i sign = _mm512_set1_epi64(std::numeric_limits<long long>::min());
  return {_mm512_castsi512_pd(_mm512_mask_xor_epi64(lanes, bits, lanes, sign))};
}
OSTRAKA_OP double Reduce(Pack a) {
  const __m256d four = _mm256_add_pd(_mm512_maskz_extractf64x4_pd(kAllLanes, a.value, 0),
                                     _mm512_maskz_extractf64x4_pd(kAllLanes, a.value, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
// Lanes 0..3 and 4..7 of `a` added, then those of `b`.
OSTRAKA_OP __m512d AddHalves(Pack a, Pack b) {
  return _mm512_add_pd(_mm512_maskz_shuffle_f64x2(kAllLanes, a.value, b.value, 0x44),
                       _mm512_maskz_shuffle_f64x2(kAllLanes, a.value, b.value, 0xee));
}
// Four sums at once, each in Reduce's order.
OSTRAKA_OP void ReduceTileRow(const Pack (&sums)[kTile], double (&results)[kTile]) {
  const __m512d ab = AddHalves(sums[0], sums[1]);
  const __m512d cd = AddHalves(sums[2], sums[3]);
  const __m512d quarters = _mm512_add_pd(_mm512_maskz_shuffle_f64x2(kAllLanes, ab, cd, 0x88),
                                         _mm512_maskz_shuffle_f64x2(kAllLanes, ab, cd, 0xdd));
  const __m512d odd = _mm512_maskz_unpackhi_pd(kAllLanes, quarters, quarters);
  constexpr __mmask8 kEven = 0x55;
  const __m512d packed = _mm512_maskz_compress_pd(kEven, _mm512_add_pd(quarters, odd));
  _mm256_storeu_pd(results, _mm512_maskz_extractf64x4_pd(kAllLanes, packed, 0));
}

OSTRAKA_OP FloatPack LoadFloatPack(const float* values) { return {_mm256_loadu_ps(values)}; }
OSTRAKA_OP void StoreFloatPack(float* values, FloatPack pack) {
  _mm256_storeu_ps(values, pack.value);
}
OSTRAKA_OP FloatPack BroadcastFloat(float value) { return {_mm256_set1_ps(value)}; }
OSTRAKA_OP FloatPack AddFloats(FloatPack a, FloatPack b) {
  return {_mm256_add_ps(a.value, b.value)};
}
OSTRAKA_OP FloatPack SubFloats(FloatPack a, FloatPack b) {
  return {_mm256_sub_ps(a.value, b.value)};
}
OSTRAKA_OP FloatPack MulFloats(FloatPack a, FloatPack b) {
  return {_mm256_mul_ps(a.value, b.value)};
}
OSTRAKA_OP FloatPack FmaFloats(FloatPack a, FloatPack b, FloatPack c) {
  return {_mm512_castps512_ps256(
      _mm512_maskz_fmadd_ps(__mmask16{kAllLanes}, _mm512_castps256_ps512(a.value),
                            _mm512_castps256_ps512(b.value), _mm512_castps256_ps512(c.value)))};
}
OSTRAKA_OP FloatPack DivFloats(FloatPack a, FloatPack b) {
  return {_mm256_div_ps(a.value, b.value)};
}
OSTRAKA_OP FloatPack SqrtFloats(FloatPack a) { return {_mm256_sqrt_ps(a.value)}; }
OSTRAKA_OP FloatPack CanonicalFloats(FloatPack a) {
  const __m256 is_nan = _mm256_cmp_ps(a.value, a.value, _CMP_UNORD_Q);
  return {_mm256_blendv_ps(a.value, _mm256_set1_ps(kQuietNan), is_nan)};
}
OSTRAKA_OP FloatPack NormalFloats(FloatPack a) {
  const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a.value);
  const __m256 is_small = _mm256_cmp_ps(size, _mm256_set1_ps(kLeastNormal), _CMP_LT_OQ);
  return {_mm256_andnot_ps(is_small, a.value)};
}
OSTRAKA_OP Pack Widen(FloatPack a) { return {_mm512_maskz_cvtps_pd(kAllLanes, a.value)}; }
OSTRAKA_OP FloatPack Narrow(Pack a) { return {_mm512_maskz_cvtpd_ps(kAllLanes, a.value)}; }

template <typename T>
struct WidePack;
template <>
struct WidePack<float> {
  static constexpr std::size_t kWidth = 16;
  __m512 value;
};
template <>
struct WidePack<double> {
  static constexpr std::size_t kWidth = 8;
  __m512d value;
};
OSTRAKA_OP WidePack<float> LoadWide(const float* values) { return {_mm512_loadu_ps(values)}; }
OSTRAKA_OP void StoreWide(float* values, WidePack<float> pack) {
  _mm512_storeu_ps(values, pack.value);
}
OSTRAKA_OP WidePack<float> MinWide(WidePack<float> a, WidePack<float> b) {
  return {_mm512_maskz_min_ps(kAllFloats, a.value, b.value)};
}
OSTRAKA_OP WidePack<float> MaxWide(WidePack<float> a, WidePack<float> b) {
  return {_mm512_maskz_max_ps(kAllFloats, a.value, b.value)};
}
OSTRAKA_OP WidePack<float> Poison(WidePack<float> poison, WidePack<float> v) {
  return {_mm512_add_ps(poison.value, _mm512_sub_ps(v.value, v.value))};
}
OSTRAKA_OP WidePack<double> LoadWide(const double* values) { return {_mm512_loadu_pd(values)}; }
OSTRAKA_OP void StoreWide(double* values, WidePack<double> pack) {
  _mm512_storeu_pd(values, pack.value);
}
OSTRAKA_OP WidePack<double> MinWide(WidePack<double> a, WidePack<double> b) {
  return {_mm512_maskz_min_pd(kAllLanes, a.value, b.value)};
}
OSTRAKA_OP WidePack<double> MaxWide(WidePack<double> a, WidePack<double> b) {
  return {_mm512_maskz_max_pd(kAllLanes, a.value, b.value)};
}
OSTRAKA_OP WidePack<double> Poison(WidePack<double> poison, WidePack<double> v) {
  return {_mm512_add_pd(poison.value, _mm512_sub_pd(v.value, v.value))};
}

#include "aggregation/kernels/simd_kernels.inc"

}  // namespace

const Kernels kAvx512Kernels = OSTRAKA_KERNEL_TABLE(Level::kAvx512);

}  // namespace ostraka::aggregation::simd

#endif
