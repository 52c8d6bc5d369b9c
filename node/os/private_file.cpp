#include "node/os/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace ostraka::os {
namespace {

base::Status Refused(const std::string& path, std::string_view what, int error) {
  return base::Unavailable(path + ": " + std::string(what) + " (" +
                           std::generic_category().message(error) + ")");
}

base::Status MakePrivate(const std::string& path, int fd) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return Refused(path, "cannot be looked at", errno);
  if (!S_ISREG(file.st_mode)) return base::Unavailable(path + ": is no plain file");
  if (::geteuid() == 0) {
    struct stat folder {};
    const std::string parent = std::filesystem::path(path).parent_path().string();
    if (::stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) {
      return Refused(path, "its folder cannot be looked at", errno);
    }
    if (file.st_uid == 0 && folder.st_uid != 0 && ::fchown(fd, folder.st_uid, folder.st_gid) != 0) {
      return Refused(path, "cannot be given to the owner of its folder", errno);
    }
  } else if (file.st_uid != ::geteuid()) {
    return base::Unavailable(path + ": belongs to user " + std::to_string(file.st_uid));
  }
  if ((file.st_mode & 07777) != 0600 && ::fchmod(fd, 0600) != 0) {
    return Refused(path, "its mode cannot be set", errno);
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<int> OpenPrivate(const std::string& path) {
  // O_NONBLOCK: opening a pipe at this path must not block.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return Refused(path, "cannot be opened", errno);
  const base::Status status = MakePrivate(path, fd);
  if (status.ok()) return fd;
  ::close(fd);
  return status;
}

bool ReplaceText(int fd, const std::string& text) {
  return ::ftruncate(fd, 0) == 0 &&
         ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::string TextIn(int fd, std::size_t most) {
  std::string text(most, '\0');
  const ssize_t got = ::pread(fd, text.data(), most, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

bool IsPrivateFolder(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  const bool ours = info.st_uid == ::geteuid() || info.st_uid == 0 || ::geteuid() == 0;
  return ours && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace ostraka::os
