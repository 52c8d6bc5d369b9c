#include "node/os/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "node/os/descriptor.h"

namespace ostraka::os {
namespace {

constexpr int kBacklog = 128;

base::Status Refused(const std::string& path, const char* what, int error) {
  return base::Unavailable("socket " + path + " " + what + " (" +
                           std::generic_category().message(error) + ")");
}

// A path that fits sun_path is named as it is. For a longer one the folder is opened and the socket
// named through its descriptor, which takes /proc.
struct ShortName {
  Descriptor folder;
  sockaddr_un address{};
  bool fits = false;

  explicit ShortName(const std::string& path)
      : folder(open(FolderOf(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    std::string name = path;
    if (name.size() >= sizeof address.sun_path) {
      name = "/proc/self/fd/" + std::to_string(folder.get()) + "/" +
             std::filesystem::path(path).filename().string();
    }
    address.sun_family = AF_UNIX;
    fits = name.size() < sizeof address.sun_path;
    if (fits) std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

 private:
  static std::string FolderOf(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
  }
};

}  // namespace

base::StatusOr<int> ListenOnUnix(const std::string& path) {
  const ShortName name(path);
  if (name.folder.get() < 0) return Refused(path, "cannot be made", errno);
  if (!name.fits) return Refused(path, "cannot be made", ENAMETOOLONG);
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) {
      return base::FailedPrecondition(path + " is there and no socket: move it away");
    }
    if (unlink(path.c_str()) != 0) return Refused(path, "cannot be replaced", errno);
  }
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Mode before listen: nobody can connect while the mode is wider.
  const bool listening = fd.get() >= 0 && bind(fd.get(), name.get(), sizeof name.address) == 0 &&
                         chmod(path.c_str(), 0600) == 0 && listen(fd.get(), kBacklog) == 0;
  if (!listening) return Refused(path, "cannot be made", errno);
  return fd.Release();
}

// Without SOCK_NONBLOCK it would wait for ever where a process that is stuck has not taken up those
// before.
base::StatusOr<int> ConnectToUnix(const std::string& path) {
  const ShortName name(path);
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (name.folder.get() >= 0 && name.fits && fd.get() >= 0 &&
      connect(fd.get(), name.get(), sizeof name.address) == 0) {
    return fd.Release();
  }
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) {
    return base::NotFound("nobody listens at " + path);
  }
  if (errno == EAGAIN) {
    return base::Unavailable(path + ": takes up no connection: is the node stuck?");
  }
  return Refused(path, "cannot be reached", errno);
}

}  // namespace ostraka::os
