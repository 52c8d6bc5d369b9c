// A node's data folder: made if missing, and used by one process at a time.
//
// The folder holds `lock` (this file), `ledger.sqlite` and `bulk` (node/store/ledger.h) and
// whatever the node's command adds. The lock is flock(2)'s: it goes with the process, however that
// ends.
//
// Thread safety: one owner.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::store {

inline constexpr char kLockFileName[] = "lock";

class DataFolder {
 public:
  // Makes `path` (mode 0700, parents too) unless it exists, and locks it.
  // Unavailable: it cannot be made or written. FailedPrecondition: a live process uses it.
  static base::StatusOr<DataFolder> Claim(const std::string& path);

  DataFolder(DataFolder&& other) noexcept;
  DataFolder& operator=(DataFolder&& other) noexcept;
  ~DataFolder();

  const std::string& path() const { return path_; }

  // Makes the names of files created in the folder survive a power cut.
  base::Status Sync() const;

 private:
  DataFolder(std::string path, int lock_fd);

  std::string path_;
  int lock_fd_ = -1;
};

}  // namespace ostraka::store
