// The kernels' text as PTX, kernels.ptx: make_ptx.py writes that file, embed_ptx.cmake makes it a
// part of the program.
#pragma once

#include <string_view>

namespace ostraka::device {

// Its first line names the text that it was made of: "// kernels.inc HASH", crypto::Hash of
// exact::kKernelText in the domain of conformance vectors.
extern const std::string_view kKernelPtx;

}  // namespace ostraka::device
