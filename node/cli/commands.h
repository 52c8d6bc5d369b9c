// One function a subcommand; each adds its options to the program and, if it was chosen, its body
// to the invocation. main.cpp knows nothing else of them.
//
// Thread safety: called once each, before parsing.
#pragma once

#include <functional>

#include "node/cli/exit_code.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct Invocation {
  std::function<ExitCode()> body;  // of the subcommand that was chosen
};

void AddKeyCommand(CLI::App& program, Invocation& invocation);
void AddRunCommand(CLI::App& program, Invocation& invocation);
// `run` is the subcommand that AddRunCommand adds.
void AddRunRecoverCommand(CLI::App& run, Invocation& invocation);
void AddNodeCommand(CLI::App& program, Invocation& invocation);
void AddSwarmCommand(CLI::App& program, Invocation& invocation);
void AddStatusCommand(CLI::App& program, Invocation& invocation);
void AddDoctorCommand(CLI::App& program, Invocation& invocation);
void AddLedgerCommand(CLI::App& program, Invocation& invocation);
void AddEvidenceCommand(CLI::App& program, Invocation& invocation);
void AddExportCommand(CLI::App& program, Invocation& invocation);
void AddSimCommand(CLI::App& program, Invocation& invocation);
void AddCompareCommand(CLI::App& program, Invocation& invocation);
void AddBenchCommand(CLI::App& program, Invocation& invocation);
void AddAggregateCommand(CLI::App& program, Invocation& invocation);
void AddAttackCommand(CLI::App& program, Invocation& invocation);

}  // namespace ostraka::cli
