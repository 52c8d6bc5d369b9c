// Reads and writes key files (crypto/key_file.h); key_file.cpp has the format.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "crypto/key_file.h"
#include "node/base/foreign_text.h"

namespace ostraka::crypto {
namespace {

constexpr mode_t kGroupAndOthers = S_IRWXG | S_IRWXO;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  // The result of close is ignored: what must be durable is fsynced first.
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  bool ok() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

// One line for a failed system call: "cannot <action> <path>: <reason>; <advice>".
base::Status SystemError(int error, std::string_view action, const std::string& path) {
  const std::string prefix = "cannot " + std::string(action) + " " + path + ": ";
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return base::NotFound(prefix + "it or its folder does not exist; check the path");
    case EEXIST:
      return base::FailedPrecondition(
          prefix +
          "it exists, and a key is never overwritten; choose another path, or move it away");
    case ELOOP:
      return base::FailedPrecondition(prefix +
                                      "it is a symbolic link; give the path of the file itself");
    case EACCES:
    case EPERM:
    case EROFS:
      return base::Unavailable(prefix + std::generic_category().message(error) +
                               "; use a folder of your own on a local disk");
    default:
      return base::Unavailable(prefix + std::generic_category().message(error) +
                               "; check the disk and try again");
  }
}

base::Status OpenError(int error, const std::string& path) {
  if (error != EACCES) return SystemError(error, "open", path);
  return base::FailedPrecondition("cannot open " + path + ": " +
                                  std::generic_category().message(error) +
                                  "; run as the user that owns it, or make a key of your own");
}

base::Status WriteAndSync(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(errno, "write", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(fd) != 0) return SystemError(errno, "write", path);
  return base::OkStatus();
}

// Makes the new name durable.
base::Status SyncFolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || fsync(fd.get()) != 0) return SystemError(errno, "sync the folder", folder);
  return base::OkStatus();
}

base::Status CheckOwnerAndMode(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) {
    return base::FailedPrecondition(path + " is not a regular file: give the path of a key file");
  }
  if (info.st_uid != geteuid()) {
    return base::FailedPrecondition(path + " belongs to another user (uid " +
                                    std::to_string(info.st_uid) +
                                    "): run as its owner, or make a key of your own");
  }
  if ((info.st_mode & kGroupAndOthers) != 0) {
    return base::FailedPrecondition(path + " is open to other users: run `chmod 600 " + path +
                                    "`, and make a new key if they may have read it");
  }
  return base::OkStatus();
}

// Removes a file that may hold a key.
base::Status Remove(const std::string& temporary) {
  if (unlink(temporary.c_str()) == 0) return base::OkStatus();
  return base::Unavailable("a copy of the key is left in " + temporary + ": delete it (" +
                           std::generic_category().message(errno) + ")");
}

}  // namespace

base::Status WriteKeyFile(const std::string& path, std::string_view text) {
  if (path.empty()) return base::InvalidArgument("the key file's path is empty: give a path");
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(mkostemp(temporary.data(), O_CLOEXEC));  // O_EXCL, mode 0600
  if (!fd.ok()) return SystemError(errno, "create", path);
  base::Status status = WriteAndSync(fd.get(), text, path);
  if (status.ok() && link(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(errno, "create", path);
  }
  RETURN_IF_ERROR(Remove(temporary));
  RETURN_IF_ERROR(status);
  return SyncFolderOf(path);
}

base::Status ReplaceKeyFile(const std::string& path, std::string_view text) {
  RETURN_IF_ERROR(ReadKeyFile(path).status());
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(mkostemp(temporary.data(), O_CLOEXEC));  // O_EXCL, mode 0600
  if (!fd.ok()) return SystemError(errno, "create", path);
  base::Status status = WriteAndSync(fd.get(), text, path);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError(errno, "replace", path);
  }
  if (!status.ok()) {
    RETURN_IF_ERROR(Remove(temporary));
    return status;
  }
  return SyncFolderOf(path);
}

base::StatusOr<std::string> ReadKeyFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return OpenError(errno, path);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return OpenError(errno, path);
  RETURN_IF_ERROR(CheckOwnerAndMode(info, path));
  std::string text(kMaxKeyFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(errno, "read", path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxKeyFileBytes) {
    return base::InvalidArgument(path + " is too long for a key file: check the path");
  }
  text.resize(size);
  if (base::IsUtf16(text)) {
    return base::InvalidArgument(path + " is text in UTF-16: save it as UTF-8");
  }
  return base::WithoutForeignMarks(text);
}

}  // namespace ostraka::crypto
