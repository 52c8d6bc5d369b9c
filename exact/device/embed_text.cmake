# cmake -DROOT=folder -DINPUT=kernels.inc -DOUTPUT=x.cpp -P embed_text.cmake
# Writes INPUT as the string constant that kernel_text.h declares, with the project's files that it includes in their
# places. Raw strings have pieces: compilers need not take more than 64 KiB in one.
cmake_minimum_required(VERSION 3.25)

function(expand path result)
  file(READ "${ROOT}/${path}" rest)
  set(text "")
  while(TRUE)
    string(FIND "${rest}" "\n#include \"" at)
    if(at EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${at} before)
    math(EXPR at "${at} + 11")  # behind the quotation mark
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\"" length)
    string(SUBSTRING "${rest}" 0 ${length} included)
    math(EXPR length "${length} + 1")
    string(SUBSTRING "${rest}" ${length} -1 rest)
    expand("${included}" inner)
    string(APPEND text "${before}\n)kernels\"\nR\"kernels(" "${inner}")
  endwhile()
  set(${result} "${text}${rest}" PARENT_SCOPE)
endfunction()

expand("${INPUT}" text)
file(WRITE "${OUTPUT}" "// Made from ${INPUT} by embed_text.cmake.
#include \"exact/device/kernel_text.h\"

namespace ostraka::exact {

const std::string_view kKernelText = R\"kernels(${text})kernels\";

}  // namespace ostraka::exact
")
