// The tables that kernels.cpp chooses from; only kernels*.cpp include this.
#pragma once

#include "exact/kernels/kernels.h"

namespace ostraka::exact {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#elif defined(__aarch64__)
extern const Kernels kNeonKernels;
#endif

}  // namespace ostraka::exact
