#include "node/store/file_identity.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace ostraka::store {

base::StatusOr<FileIdentity> FileIdentity::Of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return FileIdentity(path, found.st_dev, found.st_ino);
  const std::string why = path + ": " + std::generic_category().message(errno);
  return errno == ENOENT ? base::NotFound(why) : base::Unavailable(why);
}

bool FileIdentity::IsInPlace() const {
  struct stat found {};
  return ::stat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

}  // namespace ostraka::store
