// ostraka leave: a node of this machine leaves its run, as after Ctrl-C on its terminal.
#include <sys/types.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "node/cli/node/commands.h"
#include "node/cli/node/only_data_dir.h"
#include "node/store/data_folder.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

base::StatusOr<ExitCode> Leave(const std::string& named) {
  std::string dir = named;
  if (dir.empty()) {
    ASSIGN_OR_RETURN(dir, OnlyDataDir());
  }
  ASSIGN_OR_RETURN(const pid_t node, store::UserOf(dir));
  if (::kill(node, SIGINT) != 0) return base::Unavailable("the node on " + dir + " has just ended");
  std::fprintf(stderr, "waits for the run to let it go; Ctrl-C here ends only this command\n");
  RETURN_IF_ERROR(store::AwaitUnused(dir));
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  const bool left = summary.outcome.starts_with("left ");
  std::printf("%s%s\n", left ? "" : "it did not leave: ", summary.outcome.c_str());
  if (summary.outcome.find("stopped by Ctrl-C") != std::string::npos) {
    std::fprintf(stderr,
                 "a node is stopped if the run cannot do without it: fewer members would bear no "
                 "fault, or too few could be dialed. Start it again to come back\n");
  }
  return left ? kDone : kNegative;
}

}  // namespace

void AddLeaveCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("leave", "let a running node leave its run");
  auto dir = std::make_shared<std::string>();
  command->add_option("dir", *dir,
                      "its data folder (default: the only folder in ~/.local/share/ostraka)");
  command->footer(
      "Example: ostraka leave out/node0\n"
      "It does what Ctrl-C on the node's terminal does, and waits for the end. A node without "
      "which "
      "the run\ncannot do is stopped instead; starting the node again comes back. Its seat is kept "
      "for 1000 steps;\nthen it needs a free seat, and the invite by which it came.\n"
      "Exit codes: 0 it left; 1 it was stopped, or ended in another way; 3 no node runs there");
  command->callback([dir, &invocation] {
    invocation.body = [dir] {
      const auto code = Leave(*dir);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
