// The subcommand `manual` (terminal/invocation.h).
//
// Thread safety: called once, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

// Describes `program` with the commands that it has when `manual` runs.
void AddManualCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
