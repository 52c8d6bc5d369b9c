#include "node/cli/join/join_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "crypto/key_file.h"
#include "node/cli/options/manifest_options.h"
#include "node/cli/terminal/new_file.h"
#include "node/config/manifest_toml.h"
#include "node/train/exact/constants_file.h"

namespace ostraka::cli {
namespace {

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

base::Status WriteIfMissing(const std::string& path, const std::string& text) {
  return text.empty() || Exists(path) ? base::OkStatus() : WriteNewFile(path, text);
}

base::Status MakeKey(const std::string& path, const PassphraseOptions& passphrase) {
  if (Exists(path)) return base::OkStatus();
  std::optional<std::string> secret;
  if (!passphrase.file.empty() || passphrase.descriptor >= 0) {
    ASSIGN_OR_RETURN(secret, MakePassphraseSource(passphrase, "")());
  }
  ASSIGN_OR_RETURN(
      const std::string text,
      crypto::EncodeKeyFile(crypto::SigningKey::Generate(),
                            secret ? std::optional<std::string_view>(*secret) : std::nullopt));
  return crypto::WriteKeyFile(path, text);
}

// The invite that was given last is kept: the one before may be used up or revoked. But a link
// without a pass does not take the place of one that lets a key in.
base::Status KeepInvite(const std::string& dir, const InviteText& invite) {
  const std::string kept = dir + "/" + kInviteFileName;
  const std::string text = WriteInvite(invite);
  if (!Exists(kept)) return crypto::WriteKeyFile(kept, text);
  const auto before = ReadInvite(kept);
  if (before.ok() && (WriteInvite(*before) == text || (before->pass && !invite.pass))) {
    return base::OkStatus();
  }
  const std::string fresh = kept + ".new";
  std::error_code error;
  std::filesystem::remove(fresh, error);  // of a run that was killed here
  RETURN_IF_ERROR(crypto::WriteKeyFile(fresh, text));
  std::filesystem::rename(fresh, kept, error);
  return error ? base::Unavailable("cannot replace " + kept + ": " + error.message())
               : base::OkStatus();
}

}  // namespace

std::string DefaultJoinFolder(const protocol::Manifest& manifest) {
  std::string name = manifest.name.empty() ? manifest.run_id.Short() : manifest.name;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.';
      },
      '-');
  return "ostraka-" + name;
}

base::StatusOr<JoinFolder> MakeJoinFolder(const std::string& dir, const std::string& key,
                                          const PassphraseOptions& passphrase,
                                          const InviteText& invite) {
  JoinFolder folder{dir, dir + "/run.toml", "", key.empty() ? dir + "/node.key" : key};
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return base::Unavailable("cannot create " + dir + ": " + error.message() +
                             "; give another folder with --data-dir");
  }
  if (Exists(folder.manifest)) {
    ASSIGN_OR_RETURN(const protocol::Manifest manifest, config::ReadManifestFile(folder.manifest));
    if (manifest.run_id != invite.manifest.run_id) {
      return base::FailedPrecondition(dir + " is of run " + manifest.run_id.Short() +
                                      ", and the invite for run " + invite.manifest.run_id.Short() +
                                      ": give another folder with --data-dir");
    }
  }
  const std::string beside = GraphBeside(folder.manifest);
  if (!invite.graph.text.empty()) folder.graph = beside;
  RETURN_IF_ERROR(WriteIfMissing(beside, invite.graph.text));
  RETURN_IF_ERROR(WriteIfMissing(train::ConstantsBeside(beside), invite.graph.constants));
  RETURN_IF_ERROR(MakeKey(folder.key, passphrase));
  RETURN_IF_ERROR(KeepInvite(dir, invite));
  // It comes last: with it all that it names is there.
  RETURN_IF_ERROR(WriteIfMissing(folder.manifest, invite.manifest_text));
  return folder;
}

}  // namespace ostraka::cli
