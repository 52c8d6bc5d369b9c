#include "node/cli/terminal/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace ostraka::cli {

namespace {

// Writes and closes. Returns errno of the first failure, 0 if there was none.
int WriteAndClose(int fd, std::string_view text) {
  int failure = 0;
  while (!text.empty() && failure == 0) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) failure = errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (failure == 0 && fsync(fd) != 0) failure = errno;
  if (close(fd) != 0 && failure == 0) failure = errno;
  return failure;
}

base::Status Taken(const std::string& path) {
  return base::FailedPrecondition("'" + path +
                                  "' exists and is kept: give another name with --out");
}

}  // namespace

CLI::Option* WritesTo(CLI::Option* option) {
  return option->check(CLI::Validator(
      [](const std::string& path) -> std::string {
        if (path != "-") return "";
        return "'-' is no path, and standard output is not written to: give a path (./- for a "
               "file of that name)";
      },
      ""));
}

base::Status CheckIsNew(const std::string& path) {
  std::error_code unknown;  // then the attempt to write it will tell
  return std::filesystem::exists(path, unknown) ? Taken(path) : base::OkStatus();
}

base::Status WriteNewFile(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    return errno == EEXIST
               ? Taken(path)
               : base::Unavailable("cannot create '" + path + "': " + std::strerror(errno));
  }
  const int failure = WriteAndClose(fd, text);
  if (failure == 0) return base::OkStatus();
  unlink(path.c_str());  // a part of a file is of no use, and would be in the way of the next try
  return base::Unavailable("cannot write '" + path + "': " + std::strerror(failure));
}

base::Status CheckReplaces(const std::string& path, bool force) {
  std::error_code unknown;  // then the attempt to write it will tell
  if (force || !std::filesystem::is_regular_file(path, unknown)) return base::OkStatus();
  return base::FailedPrecondition(
      "'" + path + "' exists and is kept: give another name, or --force to replace it");
}

}  // namespace ostraka::cli
