#include "node/store/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "node/os/private_file.h"

namespace ostraka::store {
namespace {

std::string ErrnoText(int error) { return std::generic_category().message(error); }

base::Status Refused(const std::string& path, std::string_view what, int error) {
  return base::Unavailable("data folder " + path + ": " + std::string(what) + " (" +
                           ErrnoText(error) + "): give a folder that can be written");
}

base::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Refused(path, "cannot be made", error.value());
  return base::OkStatus();
}

// The digits of the process id in the lock file; empty if there are none.
std::string PidIn(int fd) {
  const std::string text = os::TextIn(fd, 23);
  return text.substr(0, text.find_first_not_of("0123456789"));
}

std::string FolderHolder(int fd) {
  const std::string pid = PidIn(fd);
  return pid.empty() ? "another process" : "process " + pid;
}

base::Status WriteHolder(const std::string& path, int fd) {
  if (!os::ReplaceText(fd, std::to_string(::getpid()) + "\n")) {
    return Refused(path, "its lock file cannot be written", errno);
  }
  return base::OkStatus();
}

}  // namespace

base::StatusOr<pid_t> UserOf(const std::string& path) {
  const std::string lock_path = path + "/" + kLockFileName;
  const int fd = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) {
    return base::NotFound("no node has its data in " + path + ": give a node's data folder");
  }
  if (fd < 0) return base::Unavailable(lock_path + ": " + ErrnoText(errno));
  const bool free = ::flock(fd, LOCK_SH | LOCK_NB) == 0;
  const int error = errno;
  const std::string pid = PidIn(fd);
  ::close(fd);  // and with it a lock that was free
  if (free) return base::NotFound("no node runs on " + path);
  pid_t process = 0;
  std::from_chars(pid.data(), pid.data() + pid.size(), process);
  if (error != EWOULDBLOCK || process <= 0 || ::kill(process, 0) != 0) {
    return base::Unavailable(path + " is in use, and not by a process of this computer and user");
  }
  return process;
}

base::Status AwaitUnused(const std::string& path) {
  const std::string lock_path = path + "/" + kLockFileName;
  const int fd = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::Unavailable(lock_path + ": " + ErrnoText(errno));
  const bool free = ::flock(fd, LOCK_SH) == 0;
  const int error = errno;
  ::close(fd);
  return free ? base::OkStatus() : base::Unavailable(lock_path + ": " + ErrnoText(error));
}

DataFolder::DataFolder(std::string path, int lock_fd) : path_(std::move(path)), lock_fd_(lock_fd) {}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_fd_(std::exchange(other.lock_fd_, -1)) {}

DataFolder& DataFolder::operator=(DataFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_fd_, other.lock_fd_);
  return *this;
}

DataFolder::~DataFolder() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

base::StatusOr<DataFolder> DataFolder::Claim(const std::string& path) {
  std::error_code ignored;  // on an error, creating it reports the reason
  const bool existed = std::filesystem::is_directory(path, ignored);
  if (!existed) {
    RETURN_IF_ERROR(MakeFolder(path));
    // The ledger lists bans and the folder may hold a key, so only the owner may read it.
    if (::chmod(path.c_str(), 0700) != 0) return Refused(path, "its mode cannot be set", errno);
  }
  const std::string lock_path = path + "/" + kLockFileName;
  const base::StatusOr<int> opened = os::OpenPrivate(lock_path);
  if (!opened.ok()) {
    return base::Unavailable("data folder: " + base::MessageOf(opened.status()) +
                             ": give a folder that can be written");
  }
  const int fd = *opened;
  DataFolder folder(path, fd);  // closes fd on the ways out below
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Refused(path, "cannot be locked", errno);
    return base::FailedPrecondition("data folder " + path + ": in use by " + FolderHolder(fd) +
                                    ": end that node first, or give this one its own folder");
  }
  RETURN_IF_ERROR(WriteHolder(path, fd));
  return folder;
}

base::Status DataFolder::Sync() const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Refused(path_, "cannot be opened", errno);
  const int failed = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (failed != 0) return Refused(path_, "cannot be made durable", error);
  return base::OkStatus();
}

}  // namespace ostraka::store
