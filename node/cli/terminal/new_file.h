// Creates files for the user.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::cli {

// Creates `path` with `text`, durably. FailedPrecondition if it exists: nothing is overwritten.
// Unavailable: it cannot be created or written.
base::Status WriteNewFile(const std::string& path, const std::string& text);

}  // namespace ostraka::cli
