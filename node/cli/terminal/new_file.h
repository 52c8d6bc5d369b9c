// Files that a command makes for the user.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::cli {

// Makes `path` with `text`, durably. FailedPrecondition if it exists: nothing is ever overwritten.
// Unavailable: it cannot be made or written.
base::Status WriteNewFile(const std::string& path, const std::string& text);

}  // namespace ostraka::cli
