// The reference level: plain C++ for any machine. The other levels must equal it bit for bit.
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "aggregation/kernels/simd_levels.h"

static_assert(FLT_EVAL_METHOD == 0, "float operations must round to float32 one by one");
static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<float>::is_iec559);

namespace ostraka::aggregation::simd {
namespace {

#define OSTRAKA_TARGET

constexpr std::size_t kTile = 1;

struct Pack {
  double lane[kLanes];
};
struct FloatPack {
  float lane[kLanes];
};

inline Pack Broadcast(double value) {
  Pack result;
  for (double& lane : result.lane) lane = value;
  return result;
}
inline Pack Zero() { return Broadcast(0.0); }
inline Pack LoadPack(const double* values) {
  Pack result;
  std::memcpy(result.lane, values, sizeof(result.lane));
  return result;
}
inline void StorePack(double* values, const Pack& pack) {
  std::memcpy(values, pack.lane, sizeof(pack.lane));
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
inline Pack Fma(const Pack& a, const Pack& b, Pack c) {
  for (std::size_t i = 0; i < kLanes; ++i) c.lane[i] = std::fma(a.lane[i], b.lane[i], c.lane[i]);
  return c;
}
// 1 where a < b, else 0.
inline Pack Less(const Pack& a, Pack b) {
  for (std::size_t i = 0; i < kLanes; ++i) b.lane[i] = a.lane[i] < b.lane[i] ? 1.0 : 0.0;
  return b;
}
inline Pack Div(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] /= b.lane[i];
  return a;
}
inline Pack Min(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i)
    a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
  return a;
}
inline Pack Max(Pack a, const Pack& b) {
  for (std::size_t i = 0; i < kLanes; ++i)
    a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
  return a;
}
// Negates lane i where bit i of `bits` is 1.
inline Pack FlipSigns(Pack a, std::uint8_t bits) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    if ((bits >> i) & 1) a.lane[i] = -a.lane[i];
  }
  return a;
}
inline double Reduce(const Pack& a) {
  const double* x = a.lane;
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
inline void ReduceTileRow(const Pack (&sums)[kTile], double (&results)[kTile]) {
  for (std::size_t b = 0; b < kTile; ++b) results[b] = Reduce(sums[b]);
}

inline FloatPack LoadFloatPack(const float* values) {
  FloatPack result;
  std::memcpy(result.lane, values, sizeof(result.lane));
  return result;
}
inline void StoreFloatPack(float* values, const FloatPack& pack) {
  std::memcpy(values, pack.lane, sizeof(pack.lane));
}
inline FloatPack BroadcastFloat(float value) {
  FloatPack result;
  for (float& lane : result.lane) lane = value;
  return result;
}
inline FloatPack AddFloats(FloatPack a, const FloatPack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] += b.lane[i];
  return a;
}
inline FloatPack SubFloats(FloatPack a, const FloatPack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] -= b.lane[i];
  return a;
}
inline FloatPack MulFloats(FloatPack a, const FloatPack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] *= b.lane[i];
  return a;
}
inline FloatPack FmaFloats(const FloatPack& a, const FloatPack& b, FloatPack c) {
  for (std::size_t i = 0; i < kLanes; ++i) c.lane[i] = std::fma(a.lane[i], b.lane[i], c.lane[i]);
  return c;
}
inline FloatPack DivFloats(FloatPack a, const FloatPack& b) {
  for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] /= b.lane[i];
  return a;
}
inline FloatPack SqrtFloats(FloatPack a) {
  for (float& lane : a.lane) lane = std::sqrt(lane);
  return a;
}
inline FloatPack CanonicalFloats(FloatPack a) {
  for (float& lane : a.lane) lane = lane != lane ? kQuietNan : lane;
  return a;
}
inline FloatPack NormalFloats(FloatPack a) {
  for (float& lane : a.lane) lane = std::fabs(lane) < kLeastNormal ? 0.0F : lane;
  return a;
}
inline Pack Widen(const FloatPack& a) {
  Pack result;
  for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = static_cast<double>(a.lane[i]);
  return result;
}
inline FloatPack Narrow(const Pack& a) {
  FloatPack result;
  for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = static_cast<float>(a.lane[i]);
  return result;
}

// A full register of values of T, for operations on each value separately.
template <typename T>
struct WidePack {
  static constexpr std::size_t kWidth = kLanes;
  T lane[kWidth];
};
template <typename T>
inline WidePack<T> LoadWide(const T* values) {
  WidePack<T> result;
  std::memcpy(result.lane, values, sizeof(result.lane));
  return result;
}
template <typename T>
inline void StoreWide(T* values, const WidePack<T>& pack) {
  std::memcpy(values, pack.lane, sizeof(pack.lane));
}
template <typename T>
inline WidePack<T> MinWide(WidePack<T> a, const WidePack<T>& b) {
  for (std::size_t i = 0; i < a.kWidth; ++i) {
    a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
  }
  return a;
}
template <typename T>
inline WidePack<T> MaxWide(WidePack<T> a, const WidePack<T>& b) {
  for (std::size_t i = 0; i < a.kWidth; ++i) {
    a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
  }
  return a;
}
// poison + (value - value): stays zero while every value is finite.
template <typename T>
inline WidePack<T> Poison(WidePack<T> poison, const WidePack<T>& value) {
  for (std::size_t i = 0; i < poison.kWidth; ++i) {
    poison.lane[i] += value.lane[i] - value.lane[i];
  }
  return poison;
}

#include "aggregation/kernels/simd_kernels.inc"

}  // namespace

const Kernels kScalarKernels = OSTRAKA_KERNEL_TABLE(Level::kScalar);

}  // namespace ostraka::aggregation::simd
