// The subcommands for one node and its data (terminal/invocation.h).
//
// Thread safety: called once each, before parsing.
#pragma once

#include "node/cli/terminal/invocation.h"

namespace ostraka::cli {

void AddKeyCommand(CLI::App& program, Invocation& invocation);
void AddRunCommand(CLI::App& program, Invocation& invocation);
// `run` is the subcommand that AddRunCommand adds.
void AddRunRecoverCommand(CLI::App& run, Invocation& invocation);
void AddNodeCommand(CLI::App& program, Invocation& invocation);
void AddLeaveCommand(CLI::App& program, Invocation& invocation);
void AddPauseCommands(CLI::App& program, Invocation& invocation);
void AddStatusCommand(CLI::App& program, Invocation& invocation);
void AddLedgerCommand(CLI::App& program, Invocation& invocation);
void AddEvidenceCommand(CLI::App& program, Invocation& invocation);
void AddReplayCommand(CLI::App& program, Invocation& invocation);
void AddExportCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
