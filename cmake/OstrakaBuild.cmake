# Flags and the functions with which every folder declares its targets.

get_filename_component(OSTRAKA_ROOT ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# No program names this folder: a batch includes its files by their whole paths.
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
find_program(OSTRAKA_CCACHE ccache)
if(OSTRAKA_CCACHE)
  # The sloppiness is what precompiled headers need (ccache's manual). Paths below the base are relative, and mapped ones
  # are not hashed, so that a fresh clone is served from the objects of any other checkout.
  set(CMAKE_C_COMPILER_LAUNCHER ${OSTRAKA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_IGNOREOPTIONS=--param=ggc* ${OSTRAKA_CCACHE})
endif()
find_program(OSTRAKA_MOLD mold)
if(OSTRAKA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# libtorch needs 1.5 GB a file: never compile two at once beside everything else.
set_property(GLOBAL PROPERTY JOB_POOLS torch=1)

# -ffp-contract=off: peers must agree on every bit (docs/architecture.md, numerics).
add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 at -O2 is wrong about moved variants and about <=> of byte vectors; clang-tidy and the
  # sanitizers look for what these two look for.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overread)
  # g++ collects garbage less often: a fifth less time for files that take 0.5 GB.
  add_compile_options(--param=ggc-min-expand=1000)
endif()
if(OSTRAKA_SANITIZE)
  # Left to itself the undefined sanitizer prints what it found and the test passes.
  add_compile_options(-fsanitize=${OSTRAKA_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${OSTRAKA_SANITIZE})
endif()

if(OSTRAKA_FUZZ)
  # Every file reports its coverage to the fuzzer, or the fuzzer would search blindly.
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(OSTRAKA_FUZZ_SECONDS 60 CACHE STRING "How long each fuzzer runs as a test")
endif()
add_custom_target(fuzzers)  # libFuzzer programs, or those that replay the corpus

# Headers of the standard library, Abseil and the tests' frameworks cost two thirds of a build's time
# if every file parses them. With OSTRAKA_PCH they are parsed once for libraries (PIC) and once for
# tests (PIE). A build without it (tidy, ...) shows an include that a file lacks.
if(OSTRAKA_PCH)
  # Else ccache cannot serve such a compilation.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
  set(OSTRAKA_PCH_HEADERS <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <deque> <functional>
    <limits> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple>
    <utility> <variant> <vector> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>)
  file(WRITE ${CMAKE_BINARY_DIR}/pch/empty.cpp "int main() { return 0; }\n")
  add_library(ostraka_pch OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/pch/empty.cpp)
  target_precompile_headers(ostraka_pch PRIVATE ${OSTRAKA_PCH_HEADERS})
endif()

# Lets the sources of `name` begin with the precompiled headers of `owner`.
function(ostraka_use_pch name owner)
  if(OSTRAKA_PCH)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  endif()
endfunction()

# With OSTRAKA_UNITY a batch of files is compiled as one: what they include is parsed and instantiated once.
# ostraka_compile_alone names files that may not share: flags of their own, intrinsics, planted bugs.
function(ostraka_unity name)
  if(OSTRAKA_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
function(ostraka_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# ostraka_add_folder(dir)
# add_subdirectory, or one line that says the folder is not there yet: folders arrive one by one.
function(ostraka_add_folder dir)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt)
    add_subdirectory(${dir})
  else()
    file(RELATIVE_PATH shown ${OSTRAKA_ROOT} ${CMAKE_CURRENT_SOURCE_DIR}/${dir})
    message(STATUS "Not there yet: ${shown}")
  endif()
endfunction()

# ostraka_library(name [ALONE] SOURCES ... [PUBLIC ...] [PRIVATE ...])
# One target per folder; PUBLIC and PRIVATE are its real dependencies and nothing else. ALONE: no batches.
set(OSTRAKA_PCH_OWNER ostraka_pch)
function(ostraka_library name)
  cmake_parse_arguments(ARG "ALONE" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${OSTRAKA_ROOT})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  ostraka_use_pch(${name} ${OSTRAKA_PCH_OWNER})
  if(NOT ARG_ALONE)
    ostraka_unity(${name})
  endif()
endfunction()

# ostraka_sources_that_include(out HEADER sources...)
# Those of `sources` that name HEADER. What a file includes later is seen at the next configuration; until
# then it only compiles slower.
function(ostraka_sources_that_include out header)
  set(found)
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    set(line)
    if(EXISTS ${path})  # else it is made at build time
      file(STRINGS ${path} line REGEX "^#include [<\"]${header}[>\"]" LIMIT_COUNT 1)
    endif()
    if(line)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# ostraka_planted_twin(name)
# The library `name` once more as `name`_planted, with the bugs of node/base/planted.h in it, beside the
# twins of what it needs, for the tests that want them found. Only sources that include planted.h are
# compiled again (no header may: tests/lint.py). The global property OSTRAKA_TWINNED lists the originals.
function(ostraka_planted_twin name)
  if(NOT OSTRAKA_BUILD_TESTS)
    return()
  endif()
  set(needs)
  get_target_property(originals ${name} INTERFACE_LINK_LIBRARIES)
  foreach(original ${originals})
    if(TARGET ${original}_planted)
      list(APPEND needs ${original}_planted)
    else()
      list(APPEND needs ${original})
    endif()
  endforeach()
  get_target_property(sources ${name} SOURCES)
  ostraka_sources_that_include(with_bugs "node/base/planted.h" ${sources})
  set(objects $<TARGET_OBJECTS:${name}>)
  if(with_bugs)
    ostraka_compile_alone(${with_bugs})
    list(JOIN with_bugs "|" pattern)
    string(REPLACE "." "[.]" pattern "${pattern}")
    set(objects "$<FILTER:${objects},EXCLUDE,/${name}[.]dir/([.]/)?(${pattern})[.]o$>")
  endif()
  ostraka_library(${name}_planted SOURCES ${with_bugs} ${objects} PUBLIC ${needs})
  target_compile_definitions(${name}_planted PUBLIC OSTRAKA_PLANTED_BUGS)
  set_property(GLOBAL APPEND PROPERTY OSTRAKA_TWINNED ${name})
  set_target_properties(${name}_planted PROPERTIES EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX)
endfunction()

# ostraka_tier(test...)
# Gives the label `soak` to those that tests/soak.txt names: `make soak` runs them, `make test` does not. A program of
# that name is built with the target `soak_programs`, not with `all`.
add_custom_target(soak_programs)
set(OSTRAKA_SOAK)
if(OSTRAKA_BUILD_TESTS AND NOT SKBUILD)
  file(STRINGS ${OSTRAKA_ROOT}/tests/soak.txt OSTRAKA_SOAK REGEX "^[a-z]")
  list(TRANSFORM OSTRAKA_SOAK REPLACE "[ |].*" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${OSTRAKA_ROOT}/tests/soak.txt)
endif()
function(ostraka_tier)
  foreach(name ${ARGN})
    if(name IN_LIST OSTRAKA_SOAK)
      set_property(TEST ${name} APPEND PROPERTY LABELS soak)
      set_property(GLOBAL APPEND PROPERTY OSTRAKA_SOAKED ${name})
      if(TARGET ${name})
        ostraka_only_for_soak(${name})
      endif()
    endif()
  endforeach()
endfunction()
function(ostraka_only_for_soak)
  set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(soak_programs ${ARGN})
endfunction()
# A line that names no test is a mistake.
function(ostraka_check_tiers)
  get_property(soaked GLOBAL PROPERTY OSTRAKA_SOAKED)
  foreach(name ${OSTRAKA_SOAK})
    if(NOT name IN_LIST soaked)
      message(FATAL_ERROR "tests/soak.txt names ${name}, which is no test")
    endif()
  endforeach()
endfunction()

# clang compiles a test under a sanitizer in a third of the time at -O0; what it tests is in libraries.
function(ostraka_quick_under_sanitizer name)
  if(OSTRAKA_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
endfunction()

# ostraka_test(name [CRYPTO] LABEL unit|property|... SOURCES ... DEPS ... [TIMEOUT seconds])
# CRYPTO: crypto::Initialize is called before the first test. The target tests_LABEL builds all of a label.
function(ostraka_test name)
  cmake_parse_arguments(ARG "CRYPTO" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(ARG_CRYPTO)
    list(APPEND ARG_SOURCES ${OSTRAKA_ROOT}/tests/unit/crypto/environment.cpp)
    list(APPEND ARG_DEPS ostraka_crypto)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(OSTRAKA_SANITIZE)
    math(EXPR ARG_TIMEOUT "5 * ${ARG_TIMEOUT}")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${OSTRAKA_ROOT})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  ostraka_use_pch(${name} ostraka_test_pch)
  ostraka_quick_under_sanitizer(${name})
  ostraka_unity(${name})
  if(NOT TARGET tests_${ARG_LABEL})
    add_custom_target(tests_${ARG_LABEL})
  endif()
  add_dependencies(tests_${ARG_LABEL} ${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
    WORKING_DIRECTORY ${OSTRAKA_ROOT})
  ostraka_tier(${name})
endfunction()

# ostraka_fuzz(name SOURCES ... DEPS ... CORPUS dir [MUTATOR sources that only libFuzzer needs])
# With OSTRAKA_FUZZ a libFuzzer binary, run as a test for OSTRAKA_FUZZ_SECONDS from its corpus (what
# it finds stays in the build folder); else a program that replays the committed corpus as a test.
function(ostraka_fuzz name)
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;DEPS;MUTATOR" ${ARGN})
  get_filename_component(corpus ${ARG_CORPUS} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  if(OSTRAKA_FUZZ)
    add_executable(${name} ${ARG_SOURCES} ${ARG_MUTATOR})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(found ${CMAKE_BINARY_DIR}/fuzz/${name})
    file(MAKE_DIRECTORY ${found}/corpus)
    add_test(NAME ${name} COMMAND ${name} -max_total_time=${OSTRAKA_FUZZ_SECONDS}
      -artifact_prefix=${found}/ -print_final_stats=1 ${found}/corpus ${corpus})
    math(EXPR timeout "${OSTRAKA_FUZZ_SECONDS} + 120")
  else()
    add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:ostraka_replay_main>)
    add_test(NAME ${name} COMMAND ${name} ${corpus})
    set(timeout 300)
  endif()
  add_dependencies(fuzzers ${name})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout}
    WORKING_DIRECTORY ${OSTRAKA_ROOT})
  target_include_directories(${name} PRIVATE ${OSTRAKA_ROOT})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
endfunction()
