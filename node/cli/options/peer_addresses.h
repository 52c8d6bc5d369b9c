// --peers ID@HOST:PORT: where to find a peer, as several commands take it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/base/ids.h"
#include "node/base/status.h"

namespace ostraka::cli {

// HOST:PORT by peer; of two addresses of one peer the last. InvalidArgument names the text that is
// no such address.
base::StatusOr<std::map<base::PeerId, std::string>> PeerAddresses(
    const std::vector<std::string>& texts);

}  // namespace ostraka::cli
