#include "aggregation/kernels/simd.h"

#include "aggregation/kernels/simd_levels.h"
#include "node/base/check.h"

namespace ostraka::aggregation::simd {
namespace {

const Kernels* forced = nullptr;

}  // namespace

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kScalar:
      return "scalar";
    case Level::kAvx2:
      return "avx2";
    case Level::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool IsSupported(Level level) {
#if defined(__x86_64__)
  if (level == Level::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }
  if (level == Level::kAvx512) return __builtin_cpu_supports("avx512f") != 0;
#endif
  return level == Level::kScalar;
}

const Kernels& KernelsFor(Level level) {
  OSTRAKA_CHECK(IsSupported(level));
#if defined(__x86_64__)
  if (level == Level::kAvx2) return kAvx2Kernels;
  if (level == Level::kAvx512) return kAvx512Kernels;
#endif
  return kScalarKernels;
}

ForcedLevel::ForcedLevel(Level level) {
  OSTRAKA_CHECK(forced == nullptr);
  forced = &KernelsFor(level);
}

ForcedLevel::~ForcedLevel() { forced = nullptr; }

const Kernels& BestKernels() {
  if (forced != nullptr) return *forced;
  if (IsSupported(Level::kAvx512)) return KernelsFor(Level::kAvx512);
  if (IsSupported(Level::kAvx2)) return KernelsFor(Level::kAvx2);
  return KernelsFor(Level::kScalar);
}

}  // namespace ostraka::aggregation::simd
