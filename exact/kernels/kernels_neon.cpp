// A Pack is four 128-bit registers. AArch64 has fused operations, so this file relies on
// -ffp-contract=off (cmake/OstrakaBuild.cmake); tests/exact_digests.py detects its absence.
#include "exact/kernels/levels.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "exact/kernels/logarithm.h"

namespace ostraka::exact {
namespace {

#define OSTRAKA_TARGET
#define OSTRAKA_OP inline __attribute__((always_inline))

constexpr int kQuads = 4;

struct Pack {
  float32x4_t quad[kQuads];
};
struct Mask {
  uint32x4_t quad[kQuads];
};

OSTRAKA_OP Pack Load(const float* values) {
  Pack a;
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vld1q_f32(values + 4 * q);
  return a;
}
OSTRAKA_OP void StoreRaw(float* values, Pack a) {
  for (int q = 0; q < kQuads; ++q) vst1q_f32(values + 4 * q, a.quad[q]);
}
OSTRAKA_OP Pack Broadcast(float value) {
  Pack a;
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vdupq_n_f32(value);
  return a;
}
OSTRAKA_OP Pack Add(Pack a, Pack b) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vaddq_f32(a.quad[q], b.quad[q]);
  return a;
}
OSTRAKA_OP Pack Sub(Pack a, Pack b) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vsubq_f32(a.quad[q], b.quad[q]);
  return a;
}
OSTRAKA_OP Pack Mul(Pack a, Pack b) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vmulq_f32(a.quad[q], b.quad[q]);
  return a;
}
OSTRAKA_OP Pack Div(Pack a, Pack b) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vdivq_f32(a.quad[q], b.quad[q]);
  return a;
}
OSTRAKA_OP Pack Fma(Pack a, Pack b, Pack c) {
  for (int q = 0; q < kQuads; ++q) c.quad[q] = vfmaq_f32(c.quad[q], a.quad[q], b.quad[q]);
  return c;
}
OSTRAKA_OP Pack Sqrt(Pack a) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vsqrtq_f32(a.quad[q]);
  return a;
}
OSTRAKA_OP Mask Less(Pack a, Pack b) {
  Mask mask;
  for (int q = 0; q < kQuads; ++q) mask.quad[q] = vcltq_f32(a.quad[q], b.quad[q]);
  return mask;
}
OSTRAKA_OP Mask IsNan(Pack a) {
  Mask mask;
  for (int q = 0; q < kQuads; ++q) mask.quad[q] = vmvnq_u32(vceqq_f32(a.quad[q], a.quad[q]));
  return mask;
}
OSTRAKA_OP Pack Select(Mask mask, Pack yes, Pack no) {
  for (int q = 0; q < kQuads; ++q) no.quad[q] = vbslq_f32(mask.quad[q], yes.quad[q], no.quad[q]);
  return no;
}
OSTRAKA_OP Pack Abs(Pack a) {
  for (int q = 0; q < kQuads; ++q) a.quad[q] = vabsq_f32(a.quad[q]);
  return a;
}
OSTRAKA_OP Pack WithSign(Pack a, Pack sign) {
  for (int q = 0; q < kQuads; ++q) {
    a.quad[q] = vbslq_f32(vdupq_n_u32(0x80000000), sign.quad[q], a.quad[q]);
  }
  return a;
}
OSTRAKA_OP Pack AddToExponent(Pack a, Pack shifted) {
  for (int q = 0; q < kQuads; ++q) {
    const uint32x4_t exponent = vshlq_n_u32(vreinterpretq_u32_f32(shifted.quad[q]), 23);
    a.quad[q] = vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(a.quad[q]), exponent));
  }
  return a;
}

OSTRAKA_OP void Transpose4(const float* in, std::size_t stride, float* out,
                           std::size_t out_stride) {
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) out[j * out_stride + i] = in[i * stride + j];
  }
}

using Vec = float32x4_t;
constexpr std::size_t kVecWidth = 4;
constexpr std::size_t kDepthBlock = 256;
OSTRAKA_OP Vec ZeroVec() { return vdupq_n_f32(0); }
OSTRAKA_OP Vec LoadVec(const float* values) { return vld1q_f32(values); }
OSTRAKA_OP void StoreVec(float* values, Vec a) { vst1q_f32(values, a); }
OSTRAKA_OP Vec BroadcastVec(float value) { return vdupq_n_f32(value); }
OSTRAKA_OP Vec FmaVec(Vec a, Vec b, Vec c) { return vfmaq_f32(c, a, b); }
OSTRAKA_OP Vec CanonicalVec(Vec a) {
  return vbslq_f32(vceqq_f32(a, a), a, vdupq_n_f32(kCanonicalNan));
}
// 8 x 3 accumulators, 3 columns of the right matrix and a broadcast: 28 of 32 registers.
constexpr std::size_t kTileRowCount = 8;
constexpr std::size_t kTileVecCount = 3;
constexpr std::size_t kNarrowRows = 20;
constexpr std::size_t kFlatRows = 4;
constexpr std::size_t kFlatVecs = 6;

#include "exact/kernels/kernels.inc"

}  // namespace

const Kernels kNeonKernels = OSTRAKA_EXACT_TABLE(Level::kNeon);

}  // namespace ostraka::exact

#endif
