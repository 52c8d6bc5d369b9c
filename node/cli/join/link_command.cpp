// ostraka link: a run, and where it stands, for keys that it lets in without an invite.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "node/cli/join/commands.h"
#include "node/cli/join/link_parts.h"
#include "node/cli/terminal/exit_code.h"
#include "node/config/manifest_toml.h"

namespace ostraka::cli {
namespace {

struct LinkOptions {
  std::string manifest;
  LinkPartsOptions parts;
};

base::Status MakeLink(const LinkOptions& options) {
  const std::string path =
      options.manifest.empty() ? options.parts.data_dir + "/run.toml" : options.manifest;
  ASSIGN_OR_RETURN(protocol::Manifest manifest, config::ReadManifestFile(path));
  if (manifest.join.policy == protocol::JoinPolicy::kClosed) {
    return base::FailedPrecondition(
        "this run is closed: its members have the manifest, and nobody else comes in");
  }
  ASSIGN_OR_RETURN(const InviteText text, PartsOf(options.parts, path, std::move(manifest)));
  RETURN_IF_ERROR(PassOn(text, options.parts.file));
  std::fprintf(stderr,
               "begins at the block of step %llu; lets in keys of the allowlist, and keys whose "
               "seat the run keeps\n",
               static_cast<unsigned long long>(text.anchor->step));
  return base::OkStatus();
}

}  // namespace

void AddLinkCommand(CLI::App& program, Invocation& invocation) {
  auto options = std::make_shared<LinkOptions>();
  auto* command = program.add_subcommand(
      "link", "a link to a run that begins at the newest block of a node, without an invite");
  command->add_option("dir", options->parts.data_dir, "data folder of a node of the run")
      ->required();
  command->add_option("--manifest", options->manifest,
                      "the run's manifest (default: run.toml in the data folder)");
  AddLinkParts(*command, options->parts);
  command->footer(
      "Example: ostraka link ostraka-swarm1\n"
      "It is for keys of the allowlist, and for those that were away while the members changed; "
      "`ostraka join` takes it");
  command->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = MakeLink(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
