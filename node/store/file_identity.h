// Whether a name still leads to the file that this process has open. A file that was moved, deleted
// or replaced takes writes as before, and nobody finds them under its name.
//
// Thread safety: a plain value.
#pragma once

#include <sys/types.h>

#include <string>

#include "node/base/status.h"

namespace ostraka::store {

class FileIdentity {
 public:
  // Of the file to which `path` leads. NotFound: to none; Unavailable: the system does not say.
  static base::StatusOr<FileIdentity> Of(const std::string& path);

  // By device and inode, through links: a folder that was moved, with a link in its place, is the
  // same.
  bool IsInPlace() const;
  const std::string& path() const { return path_; }

 private:
  FileIdentity(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}

  std::string path_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace ostraka::store
