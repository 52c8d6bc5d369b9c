// The subcommands of the simulator and the comparison (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddSimCommand(CLI::App& program, Invocation& invocation);
void AddCompareCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
