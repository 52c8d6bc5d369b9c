// ostraka key new|show: identities.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "crypto/key_file.h"
#include "node/cli/commands.h"
#include "node/cli/node_json.h"
#include "node/cli/passphrase.h"

namespace ostraka::cli {
namespace {

struct KeyOptions {
  std::string file;
  bool no_passphrase = false;
  bool json = false;
  PassphraseOptions passphrase;
};

void Show(const base::PeerId& id, bool encrypted, const KeyOptions& options) {
  if (options.json) {
    PrintJson({{"peer", id.Hex()}, {"file", options.file}, {"encrypted", encrypted}});
  } else {
    std::printf("%s\n", id.Hex().c_str());
  }
}

base::Status New(const KeyOptions& options) {
  std::optional<std::string> passphrase;
  if (!options.no_passphrase) {
    ASSIGN_OR_RETURN(passphrase, MakeNewPassphraseSource(options.passphrase)());
  }
  const crypto::SigningKey key = crypto::SigningKey::Generate();
  ASSIGN_OR_RETURN(
      const std::string text,
      crypto::EncodeKeyFile(
          key, passphrase ? std::optional<std::string_view>(*passphrase) : std::nullopt));
  RETURN_IF_ERROR(crypto::WriteKeyFile(options.file, text));
  Show(key.id(), passphrase.has_value(), options);
  return base::OkStatus();
}

base::Status ShowFile(const KeyOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, crypto::ReadKeyFile(options.file));
  const auto info = crypto::InspectKeyFile(text);
  if (!info.ok()) return About(options.file, info.status());
  Show(info->id, info->encrypted, options);
  return base::OkStatus();
}

}  // namespace

void AddKeyCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("key", "identities: Ed25519 key files");
  command->require_subcommand(1);
  command->footer("Example: ostraka key new me.key");
  auto options = std::make_shared<KeyOptions>();

  auto* create = command->add_subcommand("new", "make a key and print its peer id");
  create->add_option("file", options->file, "where to write it (mode 0600, never overwritten)")
      ->required();
  create->add_flag("--no-passphrase", options->no_passphrase, "store the key in the clear");
  AddPassphraseOptions(*create, options->passphrase);
  create->add_flag("--json", options->json, "print one JSON object");
  create->footer("Example: ostraka key new me.key");
  create->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = New(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });

  auto* show =
      command->add_subcommand("show", "print the peer id of a key file; needs no passphrase");
  show->add_option("file", options->file, "the key file")->required();
  show->add_flag("--json", options->json, "print one JSON object");
  show->footer("Example: ostraka key show me.key");
  show->callback([options, &invocation] {
    invocation.body = [options] {
      const base::Status status = ShowFile(*options);
      return status.ok() ? kDone : Fail(status);
    };
  });
}

}  // namespace ostraka::cli
