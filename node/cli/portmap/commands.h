// The subcommand that asks the router for a port (terminal/invocation.h).
//
// Thread safety: called once, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

void AddPortmapCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
