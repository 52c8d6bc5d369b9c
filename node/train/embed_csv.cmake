# cmake -DINPUT=x.csv -DOUTPUT=x.cpp -DHEADER=x.h -DNAME=kX -P embed_csv.cmake
# Writes the integers of a CSV file as the C array that HEADER declares. Commas already separate the
# values of a row, so only the ends of rows need one.
file(READ "${INPUT}" rows)
if(NOT rows MATCHES "^[0-9,\n]+$")
  message(FATAL_ERROR "${INPUT}: anything but whole numbers, commas and line ends")
endif()
string(REGEX REPLACE "\n+$" "" rows "${rows}")
string(REPLACE "\n" ",\n" rows "${rows}")
file(WRITE "${OUTPUT}" "// Made from ${INPUT} by embed_csv.cmake.
#include \"${HEADER}\"

namespace ostraka::train {

const std::uint8_t ${NAME}[] = {
${rows}};
static_assert(sizeof(${NAME}) == ${NAME}Size);

}  // namespace ostraka::train
")
