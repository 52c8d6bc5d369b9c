// ostraka key new|show|passwd|import: identities.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "crypto/key_file.h"
#include "crypto/key_import.h"
#include "node/cli/node/commands.h"
#include "node/cli/terminal/new_file.h"
#include "node/cli/terminal/passphrase.h"
#include "node/cli/views/node_json.h"

namespace ostraka::cli {
namespace {

struct KeyOptions {
  std::string file;
  std::string source;  // for import: a file, or "-"
  bool no_passphrase = false;
  bool json = false;
  PassphraseOptions passphrase;
  PassphraseOptions new_passphrase;
};

void Show(const base::PeerId& id, bool encrypted, const KeyOptions& options) {
  if (options.json) {
    PrintJson({{"peer", id.Hex()}, {"file", options.file}, {"encrypted", encrypted}});
  } else {
    std::printf("%s\n", id.Hex().c_str());
  }
}

// The text of a key file for `key`, with a passphrase from `source` unless none is wanted.
base::StatusOr<std::string> Sealed(const crypto::SigningKey& key, const KeyOptions& options,
                                   const PassphraseOptions& source) {
  std::optional<std::string> passphrase;
  if (!options.no_passphrase) {
    ASSIGN_OR_RETURN(passphrase, MakeNewPassphraseSource(source)());
  }
  return crypto::EncodeKeyFile(
      key, passphrase ? std::optional<std::string_view>(*passphrase) : std::nullopt);
}

base::Status Write(const crypto::SigningKey& key, const KeyOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, Sealed(key, options, options.passphrase));
  RETURN_IF_ERROR(crypto::WriteKeyFile(options.file, text));
  Show(key.id(), !options.no_passphrase, options);
  return base::OkStatus();
}

base::Status New(const KeyOptions& options) {
  return Write(crypto::SigningKey::Generate(), options);
}

base::Status ShowFile(const KeyOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadKey(options.file));
  const auto info = crypto::InspectKeyFile(text);
  if (!info.ok()) return About(options.file, info.status());
  Show(info->id, info->encrypted, options);
  return base::OkStatus();
}

base::Status ChangePassphrase(const KeyOptions& options) {
  ASSIGN_OR_RETURN(const crypto::SigningKey key, LoadKey(options.file, options.passphrase));
  ASSIGN_OR_RETURN(const std::string text, Sealed(key, options, options.new_passphrase));
  RETURN_IF_ERROR(crypto::ReplaceKeyFile(options.file, text));
  Show(key.id(), !options.no_passphrase, options);
  return base::OkStatus();
}

base::StatusOr<std::string> ReadStdin() {
  std::string text(crypto::kMaxKeyFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return base::Unavailable(std::string("cannot read standard input: ") + std::strerror(errno));
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size == text.size()) return base::InvalidArgument("standard input is too long for a key");
  text.resize(size);
  return text;
}

base::Status Import(const KeyOptions& options) {
  const bool from_stdin = options.source == "-";
  ASSIGN_OR_RETURN(const std::string text,
                   from_stdin ? ReadStdin() : crypto::ReadKeyFile(options.source));
  const auto key = crypto::ImportKey(text);
  if (!key.ok()) return About(from_stdin ? "standard input" : options.source, key.status());
  return Write(*key, options);
}

}  // namespace

void AddKeyCommand(CLI::App& program, Invocation& invocation) {
  auto* command = program.add_subcommand("key", "identities: Ed25519 key files");
  command->require_subcommand(1);
  command->footer("Example: ostraka key new me.key");
  auto options = std::make_shared<KeyOptions>();
  const auto add = [&](const char* name, const char* description, const char* example,
                       base::Status (*body)(const KeyOptions&)) {
    auto* sub = command->add_subcommand(name, description);
    sub->add_flag("--json", options->json, "print one JSON object");
    sub->footer(example);
    sub->callback([options, &invocation, body] {
      invocation.body = [options, body] {
        const base::Status status = body(*options);
        return status.ok() ? kDone : Fail(status);
      };
    });
    return sub;
  };
  const char* written = "the file to write (mode 0600; an existing file is never overwritten)";
  const char* clear = "store the key without encryption";

  auto* create =
      add("new", "make a key and print its peer id", "Example: ostraka key new me.key", New);
  WritesTo(create->add_option("file", options->file, written))->required();
  create->add_flag("--no-passphrase", options->no_passphrase, clear);
  AddPassphraseOptions(*create, options->passphrase);

  auto* show = add("show", "print the peer id of a key file; needs no passphrase",
                   "Example: ostraka key show me.key", ShowFile);
  show->add_option("file", options->file, "the key file")->required();

  auto* passwd =
      add("passwd", "change, add or remove the passphrase of a key file",
          "Example: ostraka key passwd me.key\n"
          "The file is replaced atomically. Copies that you made of it keep the old passphrase.",
          ChangePassphrase);
  passwd->add_option("file", options->file, "the key file")->required();
  passwd->add_flag("--no-passphrase", options->no_passphrase, clear);
  AddPassphraseOptions(*passwd, options->passphrase);
  AddPassphraseOptions(*passwd, options->new_passphrase, WhichPassphrase::kNew);

  auto* import =
      add("import", "make a key file from an Ed25519 key of another program",
          "Example: ostraka key import - me.key < ed25519.pem\n"
          "Reads PEM as `openssl genpkey -algorithm ed25519` writes it, or the seed as 64 "
          "hexadecimal digits.",
          Import);
  import
      ->add_option("source", options->source,
                   "the file (mode 0600) with the other program's key, or - for standard input")
      ->required();
  WritesTo(import->add_option("file", options->file, written))->required();
  import->add_flag("--no-passphrase", options->no_passphrase, clear);
  AddPassphraseOptions(*import, options->passphrase);
}

}  // namespace ostraka::cli
