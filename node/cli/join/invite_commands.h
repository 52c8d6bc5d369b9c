// The subcommands of `ostraka invite`, each in a file of its own.
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddInviteNew(CLI::App& command, Invocation& invocation);
void AddInviteShow(CLI::App& command, Invocation& invocation);
void AddInviteList(CLI::App& command, Invocation& invocation);
void AddInviteRevoke(CLI::App& command, Invocation& invocation);

}  // namespace ostraka::cli
