// How many files and sockets this process may have open.
//
// Thread safety: a free function; call it before the process has threads.
#pragma once

#include <cstdint>

#include "node/base/status.h"

namespace ostraka::os {

// Raises the limit to `count`, if it is lower. Unavailable, without a remedy: the system allows
// fewer.
base::Status AllowOpenFiles(std::uint64_t count);

}  // namespace ostraka::os
