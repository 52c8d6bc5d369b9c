// A node's data folder, for exclusive use by one process at a time.
//
// The folder holds `lock` (this class), `ledger.sqlite` and `bulk` (node/store/ledger.h), and the
// files of the node's command. The lock is flock(2)'s, so the kernel releases it when the process
// ends, in whatever way.
//
// Thread safety: one owner.
#pragma once

#include <sys/types.h>

#include <string>

#include "node/base/status.h"

namespace ostraka::store {

inline constexpr char kLockFileName[] = "lock";

// The process that uses the data folder `path`. NotFound: there is no such folder, or no process
// uses it. Unavailable: it cannot be read, or its user is another computer's.
base::StatusOr<pid_t> UserOf(const std::string& path);
// Returns when no process uses the folder. Unavailable: it cannot be read.
base::Status AwaitUnused(const std::string& path);

class DataFolder {
 public:
  // Creates `path` with its parents (mode 0700) unless it exists, and locks it. Unavailable: it
  // cannot be created or written. FailedPrecondition: a live process uses it.
  static base::StatusOr<DataFolder> Claim(const std::string& path);

  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&& other) noexcept;
  ~DataFolder();

  const std::string& path() const { return path_; }

  // Makes the names of files created in the folder durable.
  base::Status Sync() const;

 private:
  DataFolder(std::string path, int lock_fd);

  std::string path_;
  int lock_fd_ = -1;
};

}  // namespace ostraka::store
