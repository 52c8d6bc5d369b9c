// ostraka model: graph files.
#include <CLI/CLI.hpp>

#include "node/cli/model/commands.h"

namespace ostraka::cli {

void AddModelCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("model", "models as files without code (docs/graph.md)");
  command->require_subcommand(1);
  command->footer("Example: ostraka model make gpt --out gpt.graph");
  AddModelMakeCommand(*command, invocation);
  AddModelShowCommand(*command, invocation);
}

}  // namespace ostraka::cli
