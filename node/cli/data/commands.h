// The subcommands on data sets (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddDataCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
