// ostraka pause and ostraka resume: a node rests, and comes back.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "node/cli/node/commands.h"
#include "node/cli/node/only_data_dir.h"
#include "node/cli/node/pauses.h"
#include "node/host/report/stop_price.h"
#include "node/store/data_folder.h"
#include "node/store/ledger_reader.h"

namespace ostraka::cli {
namespace {

base::StatusOr<std::string> FolderOf(const std::string& named) {
  if (!named.empty()) return named;
  return OnlyDataDir();
}

base::StatusOr<ExitCode> PauseNode(const std::string& named) {
  ASSIGN_OR_RETURN(const std::string dir, FolderOf(named));
  RETURN_IF_ERROR(Pause(dir));
  const base::StatusOr<pid_t> node = store::UserOf(dir);
  if (absl::IsNotFound(node.status())) {
    std::printf(
        "%s rests until `ostraka resume %s`\n",
        WhyRestsIn(dir) ? "its node rests already, and" : "no node runs there; one that is started",
        dir.c_str());
    return kDone;
  }
  RETURN_IF_ERROR(node.status());
  std::fprintf(stderr, "waits for the run to let it go; Ctrl-C here ends only this command\n");
  RETURN_IF_ERROR(store::AwaitUnused(dir));
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  std::printf("paused: %s\n`ostraka resume %s` goes on\n",
              host::OutcomeAtRest(summary.outcome).c_str(), dir.c_str());
  return kDone;
}

base::StatusOr<ExitCode> ResumeNode(const std::string& named) {
  ASSIGN_OR_RETURN(const std::string dir, FolderOf(named));
  ASSIGN_OR_RETURN(const bool was_paused, Resume(dir));
  if (!was_paused) {
    std::printf("%s was not paused\n", dir.c_str());
    return kNegative;
  }
  std::printf("resumed: %s\n", WhyRestsIn(dir) ? "the node that rests there comes back now"
                                               : "no node rests there; start it");
  return kDone;
}

void AddOne(CLI::App& program, const char* name, const char* about, const char* footer,
            base::StatusOr<ExitCode> (*run)(const std::string&), Invocation& invocation) {
  auto* command = program.add_subcommand(name, about);
  auto dir = std::make_shared<std::string>();
  command->add_option("dir", *dir,
                      "its data folder (default: the only folder in ~/.local/share/ostraka)");
  command->footer(footer);
  command->callback([dir, run, &invocation] {
    invocation.body = [dir, run] {
      const auto code = run(*dir);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace

void AddPauseCommands(CLI::App& program, Invocation& invocation) {
  AddOne(program, "pause", "let a running node leave its run for a while, and rest",
         "Example: ostraka pause out/node0\n"
         "It leaves as by Ctrl-C on its terminal, computes and sends nothing, and comes back at "
         "`ostraka resume`.\nIts seat is kept for 1000 steps; then it needs a free seat. A pause "
         "outlives a restart of the machine.\n"
         "Exit codes: 0 it rests; 3 the folder is no node's, or cannot be written",
         PauseNode, invocation);
  AddOne(
      program, "resume", "let a paused node come back to its run",
      "Example: ostraka resume out/node0\n"
      "Exit codes: 0 it comes back; 1 it was not paused; 3 the folder is no node's, or cannot be "
      "written",
      ResumeNode, invocation);
}

}  // namespace ostraka::cli
