# Debian packages by CPack, a package for each component (`make deb`). Symbols go to -dbgsym packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ostraka)
# The project has no address for mail yet; `.invalid` is the domain that says so (RFC 2606).
set(CPACK_PACKAGE_CONTACT "the ostraka authors <ostraka@ostraka.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "train one model together with untrusted peers")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)  # a -dbgsym package strips its original

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ostraka)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "ostraka-trainer-torch, systemd")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/postinst)
set(CPACK_DEBIAN_PROGRAM_DEBUGINFO_PACKAGE ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
  "Peers check each other's gradients and ban attackers by evidence. This package has
the node, the simulator, robust aggregation rules and the attacks against them.")

if(TARGET ostraka_torch)
  list(APPEND CPACK_COMPONENTS_ALL trainer)
  set(CPACK_DEBIAN_TRAINER_PACKAGE_NAME ostraka-trainer-torch)
  set(CPACK_DEBIAN_TRAINER_PACKAGE_SECTION science)
  # The program refuses a module of another build, so the versions are equal.
  set(CPACK_DEBIAN_TRAINER_PACKAGE_DEPENDS "ostraka (= ${PROJECT_VERSION}-1)")
  # Without it libtorch falls back to slow reference BLAS.
  set(CPACK_DEBIAN_TRAINER_PACKAGE_RECOMMENDS libopenblas0-pthread)
  set(CPACK_DEBIAN_TRAINER_DEBUGINFO_PACKAGE ON)
  set(CPACK_COMPONENT_TRAINER_DESCRIPTION
    "The module with which an ostraka node computes the gradients of profile tolerant: libtorch.")
endif()

# python/ names the interpreter's version, or nothing if the module is not built.
if(TARGET ostraka_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  get_target_property(version ostraka_python OSTRAKA_PYTHON_VERSION)
  string(REGEX MATCH "[0-9]+$" minor ${version})
  math(EXPR next "${minor} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-ostraka)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= ${version}~), python3 (<< 3.${next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-torch)
  set(CPACK_DEBIAN_PYTHON_DEBUGINFO_PACKAGE ON)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
    "Robust aggregation rules and the attacks against them, on NumPy arrays and torch tensors.")
endif()
include(CPack)
