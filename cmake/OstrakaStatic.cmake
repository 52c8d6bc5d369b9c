# OSTRAKA_STATIC: programs and modules hold every library but glibc, so that they run on any Linux with glibc 2.34
# or later (docs/decisions/0033). Included before any folder looks for a library.

# find_library and the modules that use it take archives alone.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
add_link_options(-static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)

# Debian's configurations of Abseil and spdlog name shared objects. What is found here, in the top folder, is what the
# folders find too.
find_package(absl REQUIRED)
get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${imported})
  get_target_property(location ${target} IMPORTED_LOCATION_NONE)
  if(target MATCHES "^absl::" AND location MATCHES "^(.*)[.]so[.0-9]*$")
    set(archive ${CMAKE_MATCH_1}.a)
    if(NOT EXISTS ${archive})
      message(FATAL_ERROR "OSTRAKA_STATIC needs ${archive}: Debian's libabsl-dev has it")
    endif()
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE ${archive} IMPORTED_SONAME_NONE "")
  endif()
endforeach()
find_package(spdlog REQUIRED)
set_target_properties(spdlog::spdlog_header_only PROPERTIES
  INTERFACE_LINK_LIBRARIES "Threads::Threads;fmt::fmt-header-only")


# ostraka_hold_libraries(TARGET): what this system's glibc has and 2.34 lacks comes from older_glibc.c, and what of Abseil's
# archives may not stand in a shared object from abseil_for_modules.cpp (both in packaging/).
function(ostraka_hold_libraries target)
  target_link_libraries(${target} PRIVATE ostraka_older_glibc)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL MODULE_LIBRARY)
    target_link_libraries(${target} PRIVATE ostraka_abseil_for_modules)
  endif()
endfunction()
