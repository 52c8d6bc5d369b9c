// Whether somebody accepts connections at an address.
//
// Thread safety: a free function. Blocks.
#pragma once

#include <string>

#include "node/base/status.h"
#include "node/base/time.h"

namespace ostraka::os {

// Connects to "host:port" and closes. Unavailable: why that did not come about, within `timeout`
// (a name may take longer to be looked up). InvalidArgument: no address.
base::Status ProbeTcp(const std::string& address, base::Duration timeout);

}  // namespace ostraka::os
