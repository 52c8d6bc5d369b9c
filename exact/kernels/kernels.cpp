#include "exact/kernels/kernels.h"

#include "exact/kernels/levels.h"
#include "node/base/check.h"

namespace ostraka::exact {

std::string_view LevelName(Level level) {
  switch (level) {
    case Level::kScalar:
      return "scalar";
    case Level::kAvx2:
      return "avx2";
    case Level::kAvx512:
      return "avx512";
    case Level::kNeon:
      return "neon";
  }
  return "unknown";
}

bool IsSupported(Level level) {
#if defined(__x86_64__)
  if (level == Level::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }
  if (level == Level::kAvx512) return __builtin_cpu_supports("avx512f") != 0;
#elif defined(__aarch64__)
  if (level == Level::kNeon) return true;  // part of the architecture
#endif
  return level == Level::kScalar;
}

const Kernels& KernelsFor(Level level) {
  OSTRAKA_CHECK(IsSupported(level));
#if defined(__x86_64__)
  if (level == Level::kAvx2) return kAvx2Kernels;
  if (level == Level::kAvx512) return kAvx512Kernels;
#elif defined(__aarch64__)
  if (level == Level::kNeon) return kNeonKernels;
#endif
  return kScalarKernels;
}

const Kernels& BestKernels() {
  for (const Level level : {Level::kAvx512, Level::kAvx2, Level::kNeon}) {
    if (IsSupported(level)) return KernelsFor(level);
  }
  return KernelsFor(Level::kScalar);
}

}  // namespace ostraka::exact
