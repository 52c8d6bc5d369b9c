// Tests whether a TCP address accepts connections.
//
// Thread safety: a free function. Blocks.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::os {

// Connects to "host:port" and closes. Unavailable: the reason for a failure within `timeout`
// (looking up a name may take longer). InvalidArgument: a malformed address.
base::Status ProbeTcp(const std::string& address, base::Duration timeout);

}  // namespace ostraka::os
