# cmake -DINPUTS="a.css;b.js" -DNAMES="kCss;kJs" -DHEADER=x.h -DOUTPUT=x.cpp -P embed_text.cmake
# Writes the bytes of text files as the string constants that HEADER declares.
set(body "")
foreach(input name IN ZIP_LISTS INPUTS NAMES)
  file(READ "${input}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND body "namespace {\nconstexpr char ${name}Bytes[] = {\n${bytes}};\n}  // namespace\n"
    "const std::string_view ${name}(${name}Bytes, sizeof(${name}Bytes));\n\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed_text.cmake.
#include \"${HEADER}\"

namespace ostraka::cli {

${body}}  // namespace ostraka::cli
")
