// One process a key and run on this machine, whatever data folders the processes have: two that
// sign with one key would prove it a cheat.
//
// The lock is flock(2)'s, on a file of mode 0600 in folders where only this user can put files: the
// key file's, and one in the user's home. So no other user can take it, hold it up or forge it, and
// it is gone when its process is, however that ends. The name is the run's and the key's: a copy of
// the key in another folder is found by the lock in the home.
//
// What it does not see: another user's process with a copy of the key (root's with the same file it
// does), other machines, and containers with folders of their own. On NFS the kernel asks the
// server for the lock (Linux, NFSv4 or lockd), so that machines that share the folder are seen too;
// where the server gives no locks, that folder counts as one that cannot be used.
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
  // Locks in each of `folders` where only this user can put files and a file can be made; the
  // others are passed over. FailedPrecondition: a live process has it. Unavailable: there is no
  // folder to lock in.
  static base::StatusOr<KeyLock> Claim(const base::Digest& run_id, const base::PeerId& key,
                                       const std::vector<std::string>& folders);

  KeyLock(KeyLock&& other) noexcept;
  KeyLock& operator=(KeyLock&& other) noexcept;
  ~KeyLock();

 private:
  // An open file that is locked; its name goes with it.
  struct Held {
    std::string path;
    int fd = -1;
  };
  KeyLock() = default;
  // Nothing is held, and nothing said, where the folder is of no use.
  base::Status ClaimIn(const std::string& folder, const std::string& name, const base::PeerId& key);

  std::vector<Held> held_;
};

}  // namespace ostraka::store
