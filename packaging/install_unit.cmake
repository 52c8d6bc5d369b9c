# Runs at install time: writes the systemd unit with the prefix that was asked for.
set(prefix "${CMAKE_INSTALL_PREFIX}")
set(unit "${prefix}/lib/systemd/system/ostraka@.service")
message(STATUS "Installing: $ENV{DESTDIR}${unit}")
configure_file("${OSTRAKA_UNIT_TEMPLATE}" "$ENV{DESTDIR}${unit}" @ONLY)
# For packaging/uninstall, as install(FILES) does.
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${unit}")
