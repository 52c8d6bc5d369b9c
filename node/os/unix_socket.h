// Unix sockets whose path may exceed the 107 bytes that the system accepts, because users choose
// the paths of data folders.
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::os {

// A listening socket at `path`, mode 0600, which the caller must close. Replaces a socket left by
// an earlier process. Unavailable: it cannot be created. FailedPrecondition: another kind of file
// is there.
base::StatusOr<int> ListenOnUnix(const std::string& path);

// A connected socket that does not block, which the caller must close. NotFound: no process listens
// there. Unavailable: it takes up no more connections.
base::StatusOr<int> ConnectToUnix(const std::string& path);

}  // namespace ostraka::os
