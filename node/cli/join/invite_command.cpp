// ostraka invite new|show, and the command that the others hang on: what lets a key into a running
// run.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "crypto/key_file.h"
#include "node/cli/join/commands.h"
#include "node/cli/join/invite_commands.h"
#include "node/cli/join/issued_invites.h"
#include "node/cli/join/link_parts.h"
#include "node/cli/options/invite_link.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/passphrase.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/invite.h"
#include "node/wire/limits.h"

namespace ostraka::cli {
namespace {

struct NewOptions {
  std::string manifest;
  std::string key;
  PassphraseOptions passphrase;
  std::uint32_t uses = 1;
  std::optional<std::uint64_t> until;
  LinkPartsOptions parts;
};

base::Status CheckMayInvite(const protocol::Manifest& manifest, const base::PeerId& moderator,
                            const NewOptions& options) {
  if (manifest.join.policy != protocol::JoinPolicy::kInvite) {
    return base::FailedPrecondition("this run takes no invites (join.policy is " +
                                    std::string(JoinPolicyName(manifest.join.policy)) +
                                    "): make a manifest with `ostraka run init --moderator`");
  }
  if (!protocol::IsModerator(manifest, moderator)) {
    return base::FailedPrecondition("key " + moderator.Short() +
                                    " is no moderator of this run: give the key of one of those "
                                    "in join.moderators");
  }
  const std::uint32_t most = std::min(manifest.join.quota, wire::kMaxInviteUses);
  if (options.uses < 1 || options.uses > most) {
    return base::InvalidArgument("--uses must be from 1 to " + std::to_string(most));
  }
  const std::uint64_t steps = manifest.training.steps;
  if (options.until.value_or(steps) <= steps) return base::OkStatus();
  return base::InvalidArgument("--until must be at most " + std::to_string(steps) +
                               ", the run's steps");
}

// Refuses an invite by which nobody could come in. `newest`: a block of the run, null if none is
// known.
base::Status CheckLetsIn(const wire::Invite& invite, const wire::Block* newest) {
  const std::uint64_t step = newest == nullptr ? 0 : newest->step;
  if (invite.ends_step <= step) {
    return base::InvalidArgument("--until must be after step " + std::to_string(step) +
                                 ", at which the run " + (newest == nullptr ? "begins" : "is"));
  }
  if (newest == nullptr) return base::OkStatus();
  for (const wire::Moderator& moderator : newest->moderators) {
    if (moderator.peer != invite.moderator || !moderator.revoked) continue;
    return base::FailedPrecondition("moderator " + moderator.peer.Short() +
                                    " took all of its invites back for ever: another moderator "
                                    "must make this one");
  }
  return base::OkStatus();
}

base::Status New(const NewOptions& options) {
  ASSIGN_OR_RETURN(protocol::Manifest manifest, config::ReadManifestFile(options.manifest));
  ASSIGN_OR_RETURN(const crypto::SigningKey key, LoadKey(options.key, options.passphrase));
  RETURN_IF_ERROR(CheckMayInvite(manifest, key.id(), options));
  ASSIGN_OR_RETURN(InviteText text, PartsOf(options.parts, options.manifest, std::move(manifest)));
  crypto::SigningKey holder = crypto::SigningKey::Generate();
  const wire::Invite invite{.moderator = key.id(),
                            .holder = holder.id(),
                            .uses = options.uses,
                            .ends_step = options.until.value_or(text.manifest.training.steps),
                            .anchor = SignedAnchor(text.manifest, text.anchor)};
  RETURN_IF_ERROR(CheckLetsIn(invite, text.anchor.get()));
  text.pass = InvitePass{invite, protocol::SignInvite(text.manifest.run_id, invite, key),
                         std::move(holder)};
  // What goes to people is noted before; a file that cannot be written is no invite.
  const std::string& file = options.parts.file;
  if (!file.empty()) RETURN_IF_ERROR(PassOn(text, file));
  const base::Status noted = NoteInvite(options.key, {text.manifest.run_id, invite});
  if (!noted.ok() && !file.empty()) std::remove(file.c_str());
  RETURN_IF_ERROR(noted);
  if (file.empty()) RETURN_IF_ERROR(PassOn(text, file));
  std::fprintf(stderr, "invite %s lets in %u %s, until step %llu; whoever has it can use it%s\n",
               protocol::InviteDigest(text.manifest.run_id, invite).Short().c_str(), invite.uses,
               invite.uses == 1 ? "key" : "keys", static_cast<unsigned long long>(invite.ends_step),
               invite.uses == 1 ? ": pass it on in private" : ", so it may stand on a page");
  return base::OkStatus();
}

base::Status Show(const std::string& link_or_file) {
  ASSIGN_OR_RETURN(const InviteText text, ReadInvite(link_or_file));
  const protocol::Manifest& manifest = text.manifest;
  const std::string from = text.anchor == nullptr
                               ? "the genesis"
                               : "the block of step " + std::to_string(text.anchor->step);
  std::printf("run %s%s%s\n", manifest.run_id.Hex().c_str(), manifest.name.empty() ? "" : "  ",
              PrintableLine(manifest.name).c_str());
  if (text.pass) {
    const wire::Invite& invite = text.pass->invite;
    std::printf("invite %s\n", protocol::InviteDigest(manifest.run_id, invite).Hex().c_str());
    std::printf("moderator %s\nuses %u\nuntil step %llu of %llu\n", invite.moderator.Hex().c_str(),
                invite.uses, static_cast<unsigned long long>(invite.ends_step),
                static_cast<unsigned long long>(manifest.training.steps));
  } else {
    std::printf("a link without an invite: for keys that the run lets in anyway\n");
  }
  std::printf("begins at %s\n", from.c_str());
  return base::OkStatus();
}

}  // namespace

void AddInviteNew(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<NewOptions>();
  auto* create = command.add_subcommand("new", "make an invite, and print it as a link");
  create->add_option("--manifest", options->manifest, "the run's manifest")->required();
  create->add_option("--key", options->key, "key file of a moderator")->required();
  AddPassphraseOptions(*create, options->passphrase);
  create->add_option("--uses", options->uses, "keys that it lets in")->capture_default_str();
  create->add_option("--until", options->until,
                     "step from which on it lets in nobody (default: the run's steps)");
  AddLinkParts(*create, options->parts);
  create->add_option("--data-dir", options->parts.data_dir,
                     "data folder of a node of the run: who comes begins at its newest block, so "
                     "the invite works when the first members have gone");
  create->footer("Example: ostraka invite new --manifest run.toml --key me.key --uses 3");
  create->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = New(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

void AddInviteShow(CLI::App& command, Invocation& invocation) {
  auto what = std::make_shared<std::string>();
  auto* show = command.add_subcommand("show", "print what an invite is for, and check it");
  show->add_option("invite", *what, "the link or the file")->required();
  show->footer("Example: ostraka invite show invite.json");
  show->callback([what, &invocation] {
    invocation.body = [what] {
      const base::Status status = Show(*what);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

void AddInviteCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("invite", "invites: what lets a key into a running run");
  command->require_subcommand(1);
  command->footer("Example: ostraka invite new --manifest run.toml --key me.key");
  AddInviteNew(*command, invocation);
  AddInviteShow(*command, invocation);
  AddInviteList(*command, invocation);
  AddInviteRevoke(*command, invocation);
}

}  // namespace ostraka::cli
