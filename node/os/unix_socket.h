// Unix sockets whose path may be longer than the 107 bytes that the system takes: data folders lie
// where users put them.
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::os {

// A listening socket at `path`, mode 0600, in place of one that an earlier process left there; the
// caller closes it. Unavailable: it cannot be made. FailedPrecondition: something else is there.
base::StatusOr<int> ListenOnUnix(const std::string& path);

// A connected socket; the caller closes it. NotFound: nobody listens there.
base::StatusOr<int> ConnectToUnix(const std::string& path);

}  // namespace ostraka::os
