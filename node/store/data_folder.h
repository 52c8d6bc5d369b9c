// A node's data folder, for exclusive use by one process at a time.
//
// The folder holds `lock` (this class), `ledger.sqlite` and `bulk` (node/store/ledger.h), and the
// files of the node's command. The lock is flock(2)'s, so the kernel releases it when the process
// ends, in whatever way.
//
// Thread safety: one owner.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::store {

inline constexpr char kLockFileName[] = "lock";

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
