// ostraka invite revoke: a moderator takes back an invite, or all of its invites.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/cli/join/invite_commands.h"
#include "node/cli/join/issued_invites.h"
#include "node/cli/options/invite_link.h"
#include "node/cli/terminal/exit_code.h"
#include "node/cli/terminal/passphrase.h"
#include "node/config/manifest_toml.h"
#include "node/protocol/ground/invite.h"
#include "node/store/ledger_reader.h"
#include "node/store/revocation_file.h"

namespace ostraka::cli {
namespace {

struct RevokeOptions {
  std::string what;
  bool all = false;
  std::string manifest;
  std::string key;
  PassphraseOptions passphrase;
  std::string passed_on;  // a revocation's text
  std::vector<std::string> data_dirs;
};

base::Status CheckOptions(const RevokeOptions& options) {
  const bool makes = !options.what.empty() || options.all;
  if (makes == !options.passed_on.empty() || (!options.what.empty() && options.all)) {
    return base::InvalidArgument(
        "say one thing to revoke: the invite's link, file or id, or --all, or --pass-on with a "
        "text that this command printed");
  }
  if (makes && (options.manifest.empty() || options.key.empty())) {
    return base::InvalidArgument("--manifest and --key are needed to sign a revocation");
  }
  if (!makes && options.data_dirs.empty()) {
    return base::InvalidArgument("--pass-on needs --data-dir: the data folder of a node");
  }
  return base::OkStatus();
}

// Nullopt: all.
base::StatusOr<std::optional<wire::Invite>> Meant(const RevokeOptions& options,
                                                  const base::Digest& run_id,
                                                  const base::PeerId& moderator) {
  if (options.all) return std::nullopt;
  const bool is_id = options.what.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_id) {
    ASSIGN_OR_RETURN(const std::vector<wire::Invite> issued, IssuedBy(options.key, run_id));
    ASSIGN_OR_RETURN(wire::Invite invite, InviteNamed(options.what, issued, run_id));
    return invite;
  }
  ASSIGN_OR_RETURN(const InviteText text, ReadInvite(options.what));
  if (text.manifest.run_id != run_id) {
    return base::InvalidArgument("the invite is of run " + text.manifest.run_id.Short() +
                                 ", and the manifest is of run " + run_id.Short());
  }
  if (!text.pass) {
    return base::InvalidArgument("this is a link without an invite: it lets in nobody by itself");
  }
  if (text.pass->invite.moderator != moderator) {
    return base::FailedPrecondition("the invite is of moderator " +
                                    text.pass->invite.moderator.Short() + ", and the key is " +
                                    moderator.Short() + ": only who made an invite revokes it");
  }
  return text.pass->invite;
}

base::StatusOr<wire::Revocation> Made(const RevokeOptions& options) {
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.manifest));
  ASSIGN_OR_RETURN(const crypto::SigningKey key, LoadKey(options.key, options.passphrase));
  if (!protocol::IsModerator(manifest, key.id())) {
    return base::FailedPrecondition("key " + key.id().Short() +
                                    " is no moderator of this run: its word counts for nothing");
  }
  ASSIGN_OR_RETURN(const auto invite, Meant(options, manifest.run_id, key.id()));
  return protocol::SignRevocation(manifest.run_id, invite, key);
}

base::Status PassOnBy(const std::string& data_dir, const wire::Revocation& revocation) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::Open(data_dir));
  ASSIGN_OR_RETURN(const store::LedgerSummary summary, ledger.Summary());
  crypto::PlainVerifier verifier;
  if (!protocol::IsSigned(summary.run_id, revocation, verifier)) {
    return base::FailedPrecondition("the revocation is not signed for run " +
                                    summary.run_id.Short() + ", which " + data_dir + " is of");
  }
  RETURN_IF_ERROR(store::AddRevocation(data_dir, revocation));
  std::fprintf(stderr,
               "the node of %s passes it on while it trains; `ostraka invite list` tells when the "
               "run has it\n",
               data_dir.c_str());
  return base::OkStatus();
}

base::Status Revoke(const RevokeOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (!options.passed_on.empty()) {
    ASSIGN_OR_RETURN(const wire::Revocation revocation, store::RevocationOf(options.passed_on));
    for (const std::string& dir : options.data_dirs) RETURN_IF_ERROR(PassOnBy(dir, revocation));
    return base::OkStatus();
  }
  ASSIGN_OR_RETURN(const wire::Revocation revocation, Made(options));
  for (const std::string& dir : options.data_dirs) RETURN_IF_ERROR(PassOnBy(dir, revocation));
  if (options.data_dirs.empty()) {
    std::fprintf(stderr,
                 "nothing is revoked before a member passes this line on:\n"
                 "  ostraka invite revoke --pass-on LINE --data-dir DIR\n");
  }
  std::printf("%s\n", store::TextOf(revocation).c_str());
  return base::OkStatus();
}

}  // namespace

void AddInviteRevoke(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<RevokeOptions>();
  auto* revoke = command.add_subcommand("revoke", "take an invite back, or all of a moderator's");
  revoke->add_option("invite", options->what,
                     "its link, its file, or its id as `ostraka invite list` prints it");
  revoke->add_flag("--all", options->all,
                   "all invites of the key, for ever: for a key that was stolen");
  revoke->add_option("--manifest", options->manifest, "the run's manifest");
  revoke->add_option("--key", options->key, "key file of the moderator that made the invite");
  AddPassphraseOptions(*revoke, options->passphrase);
  revoke->add_option("--data-dir", options->data_dirs,
                     "data folder of a node of the run, which passes it on; several are safer");
  revoke->add_option("--pass-on", options->passed_on,
                     "a line that this command printed, for the node of --data-dir");
  revoke->footer(
      "Example: ostraka invite revoke 0123abcd --manifest run.toml --key me.key --data-dir "
      "out/node0\n"
      "It shuts out who has not come in yet; who is in stays. Revoking an invite that nobody has "
      "used costs the moderator one of its quota.");
  revoke->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Revoke(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
