// The tables that simd.cpp chooses from; only simd*.cpp include this.
#pragma once

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation::simd {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace ostraka::aggregation::simd
