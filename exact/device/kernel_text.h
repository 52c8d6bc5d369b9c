// The kernels' text, kernels.inc with all that it includes, as devices compile it: embed_text.cmake
// writes it into the program when that is built.
#pragma once

#include <string_view>

namespace ostraka::exact {

// OpenCL C 1.2, or CUDA C if __CUDACC_RTC__ is defined. With OWN_DIVISION defined it needs no
// division and square root that round to nearest.
extern const std::string_view kKernelText;

}  // namespace ostraka::exact
