// The subcommand that runs many nodes (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddSwarmCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
