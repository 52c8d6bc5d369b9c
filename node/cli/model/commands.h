// The subcommands on models as files (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddModelCommand(CLI::App& program, Invocation& invocation);
void AddGenerateCommand(CLI::App& program, Invocation& invocation);
void AddMemoryCommand(CLI::App& program, Invocation& invocation);

// The parts of AddModelCommand, a file each.
void AddModelMakeCommand(CLI::App& model, Invocation& invocation);
void AddModelShowCommand(CLI::App& model, Invocation& invocation);

}  // namespace ostraka::cli
