# Writes OUTPUT, which defines CodeVersion(), unless it says the same already. Run at every build:
# what git says of SOURCE changes without CMake noticing.
set(version ${VERSION})
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  string(APPEND version "+g${commit}")
  execute_process(COMMAND git -C ${SOURCE} diff HEAD OUTPUT_VARIABLE changes ERROR_QUIET)
  if(NOT changes STREQUAL "")
    string(SHA256 hash "${changes}")
    string(SUBSTRING ${hash} 0 8 hash)
    string(APPEND version "-dirty.${hash}")
  endif()
endif()
set(text "#include \"sim/compare/engine/code_version.h\"

namespace ostraka::compare {
std::string CodeVersion() { return \"${version}\"; }
}  // namespace ostraka::compare
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
