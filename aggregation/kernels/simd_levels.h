// The tables that simd.cpp chooses from; only simd*.cpp include this.
#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>

#include "aggregation/kernels/simd.h"

namespace ostraka::aggregation::simd {

// Processors give the NaN of inf - inf different signs; every NaN that an update stores is this.
inline constexpr float kQuietNan = std::bit_cast<float>(std::uint32_t{0x7fc00000});
inline constexpr float kLeastNormal = FLT_MIN;

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace ostraka::aggregation::simd
