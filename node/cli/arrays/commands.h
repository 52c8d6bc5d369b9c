// The subcommands on arrays: rules and attacks outside a run (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddBenchCommand(CLI::App& program, Invocation& invocation);
void AddAggregateCommand(CLI::App& program, Invocation& invocation);
void AddAttackCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
