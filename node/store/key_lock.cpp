#include "node/store/key_lock.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "node/os/private_file.h"

namespace ostraka::store {
namespace {

// Half of each id: finding a second id with an equal half is infeasible.
std::string NameOf(const base::Digest& run_id, const base::PeerId& key) {
  constexpr std::size_t kDigits = 32;
  return ".ostraka-" + run_id.Hex().substr(0, kDigits) + "-" + key.Hex().substr(0, kDigits) +
         ".lock";
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "PID HOST" of the holder, from the lock file, for messages.
std::string KeyHolder(int fd) {
  const std::string words = os::TextIn(fd, 299);
  const std::size_t space = words.find(' ');
  const std::string pid = words.substr(0, space);
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) {
    return "another process on this machine";
  }
  const std::string host =
      space == std::string::npos ? "" : words.substr(space + 1, words.find('\n') - space - 1);
  return "process " + pid + (host == HostName() ? " on this machine" : " on another machine");
}

bool WriteKeyHolder(int fd) {
  return os::ReplaceText(fd, std::to_string(getpid()) + " " + HostName() + "\n");
}

// False if the previous holder removed the name between our open and our lock.
bool IsStillNamed(int fd, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  return fstat(fd, &ours) == 0 && stat(path.c_str(), &named) == 0 && ours.st_dev == named.st_dev &&
         ours.st_ino == named.st_ino;
}

}  // namespace

KeyLock::KeyLock(KeyLock&& other) noexcept : held_(std::exchange(other.held_, {})) {}

KeyLock& KeyLock::operator=(KeyLock&& other) noexcept {
  std::swap(held_, other.held_);
  return *this;
}

// Unlink before closing: a process that opens the path afterwards creates a new file.
KeyLock::~KeyLock() {
  for (const Held& held : held_) {
    unlink(held.path.c_str());
    close(held.fd);
  }
}

base::Status KeyLock::ClaimIn(const std::string& folder, const std::string& name,
                              const base::PeerId& key) {
  if (!os::IsPrivateFolder(folder)) return base::OkStatus();
  const std::string path = folder + "/" + name;
  while (true) {
    const base::StatusOr<int> opened = os::OpenPrivate(path);
    if (!opened.ok()) return base::OkStatus();
    if (flock(*opened, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      const std::string holder = taken ? KeyHolder(*opened) : "";
      close(*opened);
      if (!taken) return base::OkStatus();  // a file system without locks
      return base::FailedPrecondition("key " + key.Short() + " is in use for this run by " +
                                      holder +
                                      ", and two that sign with one key are banned for it: end "
                                      "that one first");
    }
    if (IsStillNamed(*opened, path) && WriteKeyHolder(*opened)) {
      held_.push_back({path, *opened});
      return base::OkStatus();
    }
    const bool gone = !IsStillNamed(*opened, path);
    close(*opened);
    if (!gone) return base::OkStatus();  // a full disk
  }
}

base::StatusOr<KeyLock> KeyLock::Claim(const base::Digest& run_id, const base::PeerId& key,
                                       const std::vector<std::string>& folders) {
  KeyLock lock;
  for (const std::string& folder : folders) {
    RETURN_IF_ERROR(lock.ClaimIn(folder, NameOf(run_id, key), key));
  }
  if (!lock.held_.empty()) return lock;
  std::string tried;
  for (const std::string& folder : folders) tried += (tried.empty() ? "" : ", ") + folder;
  return base::Unavailable("cannot lock the key " + key.Short() +
                           " against a second process: in none of " + tried +
                           " can this user, and only this user, make files: put the key into a "
                           "folder of your own, or set HOME");
}

}  // namespace ostraka::store
