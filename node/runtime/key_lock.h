// One process a key and run on this machine, whatever data folders and users the processes have:
// two that sign with one key would prove it a cheat.
//
// The lock is a socket in the abstract namespace, named by run and key: it is gone when its process
// is, however that ends, needs no folder, and is seen across users, chroots and private /tmp. It
// does not reach into other network namespaces (containers) or machines.
//
// Thread safety: one owner.
#pragma once

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::runtime {

class KeyLock {
 public:
  // FailedPrecondition: a live process has it. Unavailable: the system refused.
  static base::StatusOr<KeyLock> Claim(const base::Digest& run_id, const base::PeerId& key);

  KeyLock(KeyLock&& other) noexcept;
  KeyLock& operator=(KeyLock&& other) noexcept;
  ~KeyLock();

 private:
  explicit KeyLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace ostraka::runtime
