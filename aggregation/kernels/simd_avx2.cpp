// A Pack is two 256-bit registers. The target has fused operations, so this file relies on
// -ffp-contract=off (cmake/OstrakaBuild.cmake); the bit-identity tests detect its absence.
#include "aggregation/kernels/simd_levels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <limits>

namespace ostraka::aggregation::simd {
namespace {

#define OSTRAKA_TARGET __attribute__((target("avx2,fma")))
#define OSTRAKA_OP OSTRAKA_TARGET inline __attribute__((always_inline))

constexpr std::size_t kTile = 2;

struct Pack {
  __m256d low;   // lanes 0..3
  __m256d high;  // lanes 4..7
};
struct FloatPack {
  __m256 value;
};

OSTRAKA_OP Pack Zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
OSTRAKA_OP Pack Broadcast(double value) { return {_mm256_set1_pd(value), _mm256_set1_pd(value)}; }
OSTRAKA_OP Pack LoadPack(const double* values) {
  return {_mm256_loadu_pd(values), _mm256_loadu_pd(values + 4)};
}
OSTRAKA_OP void StorePack(double* values, Pack pack) {
  _mm256_storeu_pd(values, pack.low);
  _mm256_storeu_pd(values + 4, pack.high);
}
OSTRAKA_OP Pack Add(Pack a, Pack b) {
  return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
}
OSTRAKA_OP Pack Sub(Pack a, Pack b) {
  return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
}
OSTRAKA_OP Pack Mul(Pack a, Pack b) {
  return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
}
OSTRAKA_OP Pack Fma(Pack a, Pack b, Pack c) {
  return {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
}
OSTRAKA_OP Pack Less(Pack a, Pack b) {
  const __m256d one = _mm256_set1_pd(1.0);
  return {_mm256_and_pd(_mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ), one),
          _mm256_and_pd(_mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ), one)};
}
OSTRAKA_OP Pack Div(Pack a, Pack b) {
  return {_mm256_div_pd(a.low, b.low), _mm256_div_pd(a.high, b.high)};
}
OSTRAKA_OP Pack Min(Pack a, Pack b) {
  return {_mm256_min_pd(a.low, b.low), _mm256_min_pd(a.high, b.high)};
}
OSTRAKA_OP Pack Max(Pack a, Pack b) {
  return {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)};
}
// Moves bit i of `bits` to the sign bit of lane i and flips signs by exclusive or.
OSTRAKA_OP Pack FlipSigns(Pack a, std::uint8_t bits) {
  const __m256i all = _mm256_set1_epi64x(bits);
  const __m256i sign = _mm256_set1_epi64x(std::numeric_limits<long long>::min());
  const __m256i low =
      _mm256_and_si256(_mm256_sllv_epi64(all, _mm256_setr_epi64x(63, 62, 61, 60)), sign);
  const __m256i high =
      _mm256_and_si256(_mm256_sllv_epi64(all, _mm256_setr_epi64x(59, 58, 57, 56)), sign);
  return {_mm256_xor_pd(a.low, _mm256_castsi256_pd(low)),
          _mm256_xor_pd(a.high, _mm256_castsi256_pd(high))};
}
OSTRAKA_OP double Reduce(Pack a) {
  const __m256d four = _mm256_add_pd(a.low, a.high);
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
OSTRAKA_OP void ReduceTileRow(const Pack (&sums)[kTile], double (&results)[kTile]) {
  for (std::size_t b = 0; b < kTile; ++b) results[b] = Reduce(sums[b]);
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
  return {_mm256_fmadd_ps(a.value, b.value, c.value)};
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
OSTRAKA_OP Pack Widen(FloatPack a) {
  return {_mm256_cvtps_pd(_mm256_castps256_ps128(a.value)),
          _mm256_cvtps_pd(_mm256_extractf128_ps(a.value, 1))};
}
OSTRAKA_OP FloatPack Narrow(Pack a) {
  return {_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(a.low)),
                               _mm256_cvtpd_ps(a.high), 1)};
}

template <typename T>
struct WidePack;
template <>
struct WidePack<float> {
  static constexpr std::size_t kWidth = 8;
  __m256 value;
};
template <>
struct WidePack<double> {
  static constexpr std::size_t kWidth = 4;
  __m256d value;
};
OSTRAKA_OP WidePack<float> LoadWide(const float* values) { return {_mm256_loadu_ps(values)}; }
OSTRAKA_OP void StoreWide(float* values, WidePack<float> pack) {
  _mm256_storeu_ps(values, pack.value);
}
OSTRAKA_OP WidePack<float> MinWide(WidePack<float> a, WidePack<float> b) {
  return {_mm256_min_ps(a.value, b.value)};
}
OSTRAKA_OP WidePack<float> MaxWide(WidePack<float> a, WidePack<float> b) {
  return {_mm256_max_ps(a.value, b.value)};
}
OSTRAKA_OP WidePack<float> Poison(WidePack<float> poison, WidePack<float> v) {
  return {_mm256_add_ps(poison.value, _mm256_sub_ps(v.value, v.value))};
}
OSTRAKA_OP WidePack<double> LoadWide(const double* values) { return {_mm256_loadu_pd(values)}; }
OSTRAKA_OP void StoreWide(double* values, WidePack<double> pack) {
  _mm256_storeu_pd(values, pack.value);
}
OSTRAKA_OP WidePack<double> MinWide(WidePack<double> a, WidePack<double> b) {
  return {_mm256_min_pd(a.value, b.value)};
}
OSTRAKA_OP WidePack<double> MaxWide(WidePack<double> a, WidePack<double> b) {
  return {_mm256_max_pd(a.value, b.value)};
}
OSTRAKA_OP WidePack<double> Poison(WidePack<double> poison, WidePack<double> v) {
  return {_mm256_add_pd(poison.value, _mm256_sub_pd(v.value, v.value))};
}

#include "aggregation/kernels/simd_kernels.inc"

}  // namespace

const Kernels kAvx2Kernels = OSTRAKA_KERNEL_TABLE(Level::kAvx2);

}  // namespace ostraka::aggregation::simd

#endif
