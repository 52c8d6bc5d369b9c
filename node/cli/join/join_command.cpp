// ostraka join: comes into a running run by an invite, and trains.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "node/cli/join/commands.h"
#include "node/cli/join/join_folder.h"
#include "node/cli/node/node_options.h"
#include "node/cli/node/run_node.h"

namespace ostraka::cli {
namespace {

base::StatusOr<ExitCode> Join(NodeCommandOptions options) {
  NodeFileOptions& files = options.files;
  ASSIGN_OR_RETURN(InviteText invite, ReadInvite(files.invite));
  std::string dir = files.data_dir;
  std::error_code error;
  if (dir.empty() && std::filesystem::is_directory(files.invite, error)) dir = files.invite;
  if (dir.empty()) dir = DefaultJoinFolder(invite.manifest);
  ASSIGN_OR_RETURN(const JoinFolder folder,
                   MakeJoinFolder(dir, files.key, files.passphrase, invite));
  const bool own_key = !files.key.empty();
  files.data_dir = folder.dir;
  files.manifest = folder.manifest;
  files.key = folder.key;
  if (files.graph.empty()) files.graph = folder.graph;
  if (!options.output.events) {
    std::string again = folder.dir + (own_key ? " --key " + folder.key : "");
    if (!files.data.empty()) again += " --data " + files.data;
    if (files.sources != "no") again += " --sources " + files.sources;
    if (files.allow_private_sources) again += " --allow-private-sources";
    std::fprintf(stderr,
                 "everything of this node is in %s; `ostraka join %s` starts it again, and if the "
                 "run never lets it in, the folder can be deleted\n",
                 folder.dir.c_str(), again.c_str());
  }
  return RunNode(options, {.invite = std::make_shared<const InviteText>(std::move(invite))});
}

}  // namespace

void AddJoinCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("join", "come into a running run by an invite, and train");
  auto options = std::make_shared<NodeCommandOptions>();
  command
      ->add_option(
          "invite", options->files.invite,
          "the link that a moderator gave you, the file that holds it, or the data folder of a "
          "node that came by it")
      ->required();
  command->add_option("--key", options->files.key,
                      "identity key file; made if it is missing (default: node.key in the data "
                      "folder)");
  AddNodeSettings(*command, *options);
  command->get_option("--data-dir")
      ->description(
          "folder of the ledger and the checkpoints (default ./ostraka-<name of the run>)");
  command->footer(
      "Example: ostraka join invite.json\n"
      "         ostraka join ostraka:eyJhZGRyZXNzZXMiOnt9... --data-dir swarm1\n"
      "The data folder is ostraka-<name of the run> unless --data-dir names another; a key that "
      "is made there has no passphrase unless --passphrase-file gives one. Without --listen and "
      "--dht on the node declares that it can only dial.\n"
      "A key that has come in by an invite comes in by it again, at no use, until the invite ends "
      "or "
      "is revoked: `ostraka join FOLDER`.\n"
      "Exit codes: as of `ostraka node`; 1 also if the run refuses the key, 2 if the invite is no "
      "good, or the run's data lie where its manifest says and --sources agrees to nothing");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const auto code = Join(*options);
      return code.ok() ? *code : Fail(code.status());
    };
  });
}

}  // namespace ostraka::cli
