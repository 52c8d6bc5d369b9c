// Allows one process per key and run on this machine, whatever data folders the processes use.
// Rationale: two processes that sign with one key produce proof of equivocation against it.
//
// The lock is flock(2)'s, on a file of mode 0600, in each of two folders that only this user can
// write to: the key file's folder and one in the user's home. So no other user can take, block or
// forge it, and it ends with its process. Its name derives from run and key, so the lock in the
// home folder also detects a copy of the key in another folder.
//
// Not detected: a process of another user with a copy of the key (except root's with this key
// file), other machines, and containers with their own folders. On NFS the kernel asks the server
// for the lock (Linux, NFSv4 or lockd), so machines that share the folder are detected too. If the
// server gives no locks, the folder counts as unusable.
//
// Thread safety: one owner.
#pragma once

#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::store {

class KeyLock {
 public:
  // Locks in each of `folders` that only this user can write to and where a file can be created;
  // skips the others. FailedPrecondition: a live process holds the lock. Unavailable: no folder is
  // usable.
  static base::StatusOr<KeyLock> Claim(const base::Digest& run_id, const base::PeerId& key,
                                       const std::vector<std::string>& folders);

  KeyLock(KeyLock&& other) noexcept;
  KeyLock& operator=(KeyLock&& other) noexcept;
  ~KeyLock();

 private:
  // An open, locked file; its name is removed with the lock.
  struct Held {
    std::string path;
    int fd = -1;
  };
  KeyLock() = default;
  // OK, without a lock held, if the folder is unusable.
  base::Status ClaimIn(const std::string& folder, const std::string& name, const base::PeerId& key);

  std::vector<Held> held_;
};

}  // namespace ostraka::store
