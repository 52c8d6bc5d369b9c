#include "node/os/open_files.h"

#include <sys/resource.h>

#include <string>

namespace ostraka::os {

base::Status AllowOpenFiles(std::uint64_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return base::Unavailable("cannot read the limit of open files");
  }
  if (limit.rlim_cur >= count) return base::OkStatus();
  if (limit.rlim_max >= count) {
    limit.rlim_cur = count;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return base::OkStatus();
  }
  return base::Unavailable("it takes " + std::to_string(count) +
                           " open files, and a process may have " + std::to_string(limit.rlim_max) +
                           " here (ulimit -n)");
}

}  // namespace ostraka::os
