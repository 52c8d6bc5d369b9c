// The subcommand that checks a machine (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddDoctorCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
