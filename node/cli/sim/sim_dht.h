// `ostraka sim dht`: many nodes of the DHT in virtual time (sim/dht/run.h).
//
// Thread safety: called once, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

// Adds the subcommand `dht` to the command `sim`.
void AddSimDht(CLI::App& sim, Invocation& invocation);

}  // namespace ostraka::cli
