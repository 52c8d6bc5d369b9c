# cmake -DINPUT=kernels.ptx -DOUTPUT=x.cpp -P embed_ptx.cmake
# Writes INPUT as the string constant that kernel_ptx.h declares.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "// Made from kernels.ptx by embed_ptx.cmake.
#include \"node/device/kernel_ptx.h\"

namespace ostraka::device {

const std::string_view kKernelPtx = R\"ptx(${text})ptx\";

}  // namespace ostraka::device
")
