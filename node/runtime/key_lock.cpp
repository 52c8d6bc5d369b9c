#include "node/runtime/key_lock.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace ostraka::runtime {
namespace {

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Half of each id: nobody finds a second one with that half, and a name has 107 bytes.
Name NameOf(const base::Digest& run_id, const base::PeerId& key) {
  constexpr std::size_t kDigits = 32;
  const std::string text =
      "ostraka/" + run_id.Hex().substr(0, kDigits) + "/" + key.Hex().substr(0, kDigits);
  Name name;
  name.address.sun_family = AF_UNIX;
  // A first byte of zero makes the name abstract.
  std::memcpy(name.address.sun_path + 1, text.data(), text.size());
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

// The process that listens at `name`, for people.
std::string HolderOf(const Name& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ucred holder{};
  socklen_t size = sizeof holder;
  const bool known = fd >= 0 && connect(fd, name.get(), name.size) == 0 &&
                     getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &holder, &size) == 0;
  if (fd >= 0) close(fd);
  if (!known || holder.pid <= 0) return "another process";
  std::string text = "process " + std::to_string(holder.pid);
  if (holder.uid != geteuid()) text += " of user " + std::to_string(holder.uid);
  return text;
}

}  // namespace

KeyLock::KeyLock(KeyLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

KeyLock& KeyLock::operator=(KeyLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

KeyLock::~KeyLock() {
  if (fd_ >= 0) close(fd_);
}

base::StatusOr<KeyLock> KeyLock::Claim(const base::Digest& run_id, const base::PeerId& key) {
  const Name name = NameOf(run_id, key);
  KeyLock lock(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // It listens so that who finds it taken can ask by whom; nobody is ever accepted.
  if (lock.fd_ >= 0 && bind(lock.fd_, name.get(), name.size) == 0 && listen(lock.fd_, 1) == 0) {
    return lock;
  }
  const int error = errno;
  if (error == EADDRINUSE) {
    return base::FailedPrecondition(
        "key " + key.Short() + " is in use for this run by " + HolderOf(name) +
        " on this machine, and two that sign with one key are banned for it: end that one first");
  }
  return base::Unavailable("cannot lock the key " + key.Short() + " (" +
                           std::generic_category().message(error) + ")");
}

}  // namespace ostraka::runtime
