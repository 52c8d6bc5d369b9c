// Runs one member of a run until it ends, with its events on the terminal.
#pragma once

#include "node/base/status.h"
#include "node/cli/node/node_options.h"
#include "node/cli/terminal/exit_code.h"

namespace ostraka::cli {

// The errors of RunOptionsOf, Log::Open and host::Host::Open. Blocks until the run has ended, and
// as long as its last page is asked for. A node that rests (pauses.h) leaves, waits, and runs
// again. `once`: what the caller has read already.
base::StatusOr<ExitCode> RunNode(const NodeCommandOptions& options, ReadOnce once = {});

}  // namespace ostraka::cli
