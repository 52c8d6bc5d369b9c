#include "node/cli/terminal/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ostraka::cli {

base::Status WriteNewFile(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    return errno == EEXIST
               ? base::FailedPrecondition("'" + path +
                                          "' exists and is kept: give another name with --out")
               : base::Unavailable("cannot create '" + path + "': " + std::strerror(errno));
  }
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = fsync(fd) == 0 && close(fd) == 0;
  return written && closed ? base::OkStatus() : base::Unavailable("cannot write '" + path + "'");
}

base::Status CheckReplaces(const std::string& path, bool force) {
  std::error_code unknown;  // then the attempt to write it will tell
  if (force || !std::filesystem::is_regular_file(path, unknown)) return base::OkStatus();
  return base::FailedPrecondition(
      "'" + path + "' exists and is kept: give another name, or --force to replace it");
}

}  // namespace ostraka::cli
