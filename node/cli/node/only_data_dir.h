// The data folder that a command means when it names none.
//
// Thread safety: free function; it reads the environment.
#pragma once

#include <string>

#include "node/base/status.h"

namespace ostraka::cli {

// The only folder of a node in DefaultDataRoot(). NotFound: there is none. InvalidArgument: there
// are several, which it names.
base::StatusOr<std::string> OnlyDataDir();

}  // namespace ostraka::cli
