# Runs at install time, for `cmake --install --strip`: puts the debug symbols of the file OSTRAKA_BUILT into
# the folder .debug beside its stripped copy OSTRAKA_INSTALLED, where debuggers look first.
if(CMAKE_INSTALL_DO_STRIP)
  set(installed "${CMAKE_INSTALL_PREFIX}/${OSTRAKA_INSTALLED}")
  get_filename_component(folder "${installed}" DIRECTORY)
  get_filename_component(name "${installed}" NAME)
  set(symbols "${folder}/.debug/${name}.debug")
  message(STATUS "Installing: $ENV{DESTDIR}${symbols}")
  file(MAKE_DIRECTORY "$ENV{DESTDIR}${folder}/.debug")
  execute_process(COMMAND "${OSTRAKA_OBJCOPY}" --only-keep-debug --compress-debug-sections
      "${OSTRAKA_BUILT}" "$ENV{DESTDIR}${symbols}" COMMAND_ERROR_IS_FATAL ANY)
  # The link names the file and has its checksum.
  execute_process(COMMAND "${OSTRAKA_OBJCOPY}" "--add-gnu-debuglink=$ENV{DESTDIR}${symbols}"
      "$ENV{DESTDIR}${installed}" COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "$ENV{DESTDIR}${symbols}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${symbols}")  # for packaging/uninstall
endif()
