// ostraka invite revoke: a moderator takes back an invite, or all of its invites.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
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
  if (makes && options.key.empty()) {
    return base::InvalidArgument("--key is needed to sign a revocation: the moderator's key file");
  }
  if (!makes && options.data_dirs.empty()) {
    return base::InvalidArgument("--pass-on needs --data-dir: the data folder of a node");
  }
  return base::OkStatus();
}

// By its id, from the notes beside the key; or out of the link or the file.
base::StatusOr<wire::Invite> InviteOf(const RevokeOptions& options, const base::Digest& run_id) {
  if (options.what.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos) {
    ASSIGN_OR_RETURN(const IssuedInvites issued, IssuedBy(options.key, run_id));
    std::string digits = options.what;
    std::transform(digits.begin(), digits.end(), digits.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return InviteNamed(digits, issued.invites, run_id);
  }
  ASSIGN_OR_RETURN(const InviteText text, ReadInvite(options.what));
  if (text.manifest.run_id != run_id) {
    return base::InvalidArgument("the invite is of run " + text.manifest.run_id.Short() +
                                 ", and the manifest is of run " + run_id.Short());
  }
  if (text.pass) return text.pass->invite;
  return base::InvalidArgument("this is a link without an invite: it lets in nobody by itself");
}

// Nullopt: all.
base::StatusOr<std::optional<wire::Invite>> Meant(const RevokeOptions& options,
                                                  const base::Digest& run_id,
                                                  const base::PeerId& moderator) {
  if (options.all) return std::nullopt;
  ASSIGN_OR_RETURN(wire::Invite invite, InviteOf(options, run_id));
  if (invite.moderator == moderator) return invite;
  return base::FailedPrecondition("the invite is of moderator " + invite.moderator.Short() +
                                  ", and the key is " + moderator.Short() +
                                  ": only who made an invite revokes it");
}

base::StatusOr<wire::Revocation> Made(const RevokeOptions& options,
                                      const protocol::Manifest& manifest) {
  ASSIGN_OR_RETURN(const crypto::SigningKey key, LoadKey(options.key, options.passphrase));
  if (!protocol::IsModerator(manifest, key.id())) {
    return base::FailedPrecondition("key " + key.id().Short() +
                                    " is no moderator of this run: its word counts for nothing");
  }
  ASSIGN_OR_RETURN(const auto invite, Meant(options, manifest.run_id, key.id()));
  return protocol::SignRevocation(manifest.run_id, invite, key);
}

// What another moderator has printed.
base::StatusOr<wire::Revocation> Taken(const std::string& line,
                                       const protocol::Manifest& manifest) {
  ASSIGN_OR_RETURN(wire::Revocation revocation, store::RevocationOf(line));
  crypto::PlainVerifier verifier;
  if (protocol::IsModerator(manifest, revocation.moderator) &&
      protocol::IsSigned(manifest.run_id, revocation, verifier)) {
    return revocation;
  }
  return base::FailedPrecondition("no moderator of run " + manifest.run_id.Short() +
                                  " has signed this revocation: it would count for nothing");
}

// Why the invite lets in nobody any more, so that the run takes no revocation of it; empty if it
// may.
std::string IsOver(store::LedgerReader& ledger, const base::Digest& run_id,
                   const wire::Revocation& revocation) {
  const auto newest = ledger.LastBlock();
  if (!revocation.invite || !newest.ok()) return {};
  if (HeightOf(*newest) >= revocation.invite->ends_step) return "has ended";
  const base::Digest name = protocol::InviteDigest(run_id, *revocation.invite);
  for (const wire::UsedInvite& known : newest->invites) {
    if (known.invite != name) continue;
    if (known.revoked) return "is revoked already";
  }
  return {};
}

base::Status PassOnBy(const std::string& data_dir, const base::Digest& run_id,
                      const wire::Revocation& revocation) {
  ASSIGN_OR_RETURN(store::LedgerReader ledger, store::LedgerReader::OpenOf(data_dir, run_id));
  const std::string over = IsOver(ledger, run_id, revocation);
  if (!over.empty()) {
    std::fprintf(stderr, "by the newest block of %s this invite %s: it lets in nobody any more\n",
                 PrintableLine(data_dir).c_str(), over.c_str());
    return base::OkStatus();
  }
  RETURN_IF_ERROR(store::AddRevocation(data_dir, revocation));
  std::fprintf(stderr,
               "the node of %s passes it on while it trains; `ostraka invite list` tells when the "
               "run has it\n",
               PrintableLine(data_dir).c_str());
  return base::OkStatus();
}

// Each folder gets it, also after one that cannot take it; the error names all that cannot.
base::Status PassOnByAll(const std::vector<std::string>& data_dirs, const base::Digest& run_id,
                         const wire::Revocation& revocation) {
  base::Status first;
  std::string failures;
  for (const std::string& dir : data_dirs) {
    const base::Status passed = PassOnBy(dir, run_id, revocation);
    if (passed.ok()) continue;
    if (first.ok()) first = passed;
    failures += (failures.empty() ? "" : "; ") + base::MessageOf(passed);
  }
  return first.ok() ? first : base::Status(first.code(), failures);
}

base::Status Revoke(const RevokeOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(options.manifest));
  if (manifest.join.policy != protocol::JoinPolicy::kInvite) {
    return base::FailedPrecondition("this run takes no invites: there is nothing to revoke");
  }
  if (!options.passed_on.empty()) {
    ASSIGN_OR_RETURN(const wire::Revocation revocation, Taken(options.passed_on, manifest));
    return PassOnByAll(options.data_dirs, manifest.run_id, revocation);
  }
  ASSIGN_OR_RETURN(const wire::Revocation revocation, Made(options, manifest));
  std::printf("%s\n", store::TextOf(revocation).c_str());
  if (options.data_dirs.empty()) {
    std::fprintf(stderr,
                 "nothing is revoked before a member passes this line on:\n"
                 "  ostraka invite revoke --pass-on LINE --manifest run.toml --data-dir DIR\n");
  }
  return PassOnByAll(options.data_dirs, manifest.run_id, revocation);
}

}  // namespace

void AddInviteRevoke(CLI::App& command, Invocation& invocation) {
  auto options = std::make_shared<RevokeOptions>();
  auto* revoke = command.add_subcommand("revoke", "take an invite back, or all of a moderator's");
  revoke->add_option("invite", options->what,
                     "its link, its file, or its id as `ostraka invite list` prints it");
  revoke->add_flag("--all", options->all,
                   "all invites of the key, for ever: for a key that was stolen");
  revoke->add_option("--manifest", options->manifest, "the run's manifest")->required();
  revoke->add_option("--key", options->key, "key file of the moderator that made the invite");
  AddPassphraseOptions(*revoke, options->passphrase);
  revoke->add_option("--data-dir", options->data_dirs,
                     "data folder of a node of the run, which passes it on; several are safer");
  revoke->add_option("--pass-on", options->passed_on,
                     "a line that this command printed, for the node of --data-dir");
  revoke->footer(
      "Example: ostraka invite revoke 0123abcd --manifest run.toml --key me.key --data-dir "
      "out/node0\n"
      "It shuts out who has not come in yet, and who has come in by it and is away for more than "
      "1000 steps; who is in stays. Revoking an invite that nobody has "
      "used costs the moderator one of its quota.");
  revoke->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = Revoke(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
