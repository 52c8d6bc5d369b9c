// ostraka node: one member of a run (node/host/host.h).
#include <CLI/CLI.hpp>
#include <memory>

#include "node/cli/node/commands.h"
#include "node/cli/node/node_options.h"
#include "node/cli/node/run_node.h"

namespace ostraka::cli {

void AddNodeCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("node", "run a node: one member of a run");
  auto options = std::make_shared<NodeCommandOptions>();
  AddNodeOptions(*command, *options);
  command->footer(
      "Example: ostraka node run.toml --key me.key\n"
      "         ostraka node run.toml --key me.key --http 127.0.0.1:9464\n"
      "Ctrl-C leaves the run, which takes some steps and costs the others nothing. Where the run "
      "cannot do without the node, and by SIGTERM or a closed terminal (SIGHUP), it stops: at "
      "once, "
      "or with the block of the step in progress if it has committed to a coin, which costs its "
      "place otherwise. A second Ctrl-C or SIGTERM ends it at once. The same command comes back, "
      "or goes on: who left or was dropped has its seat for 1000 steps, and then comes in by its "
      "invite, used up or not, or because the manifest names it. The last line says until when, in "
      "steps and in time.\n"
      "Exit codes: 0 the run finished, the node left it, or SIGTERM stopped the node; 1 banned, "
      "diverged, forked, refused, or stopped by Ctrl-C or a closed terminal (SIGHUP); 2 bad option "
      "or "
      "file content; 3 file, disk or port missing, the disk full or the data folder gone, or no "
      "progress");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = RunNode(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
