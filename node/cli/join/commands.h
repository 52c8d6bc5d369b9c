// The subcommands by which keys come into running runs (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddInviteCommand(CLI::App& program, Invocation& invocation);
void AddJoinCommand(CLI::App& program, Invocation& invocation);
void AddLinkCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
