// The subcommand `dht` (terminal/invocation.h).
//
// Thread safety: called once, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddDhtCommand(CLI::App& program, Invocation& invocation);

// Its subcommands that talk to other nodes.
void AddDhtNetworkCommands(CLI::App& dht, Invocation& invocation);

}  // namespace ostraka::cli
