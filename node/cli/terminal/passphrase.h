// Sources of a key file's passphrase: a file, an open descriptor, or the terminal. Never an
// argument or the environment, which other users can read.
#pragma once

#include <cstdint>
#include <string>

#include "crypto/key_file.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct PassphraseOptions {
  std::string file;
  int descriptor = -1;
  std::string descriptor_option = "--passphrase-fd";  // its name, for errors
};

// Adds --passphrase-file and --passphrase-fd, or --new-passphrase-file and --new-passphrase-fd.
enum class WhichPassphrase : std::uint8_t { kOnly, kNew };
void AddPassphraseOptions(CLI::App& command, PassphraseOptions& options,
                          WhichPassphrase which = WhichPassphrase::kOnly);

// A source that is asked only if a key file needs a passphrase. From a file or descriptor it reads
// the first line, at most 1 KiB, without what editors of other systems add
// (node/base/foreign_text.h). Without either it asks on the terminal, without echo;
// FailedPrecondition if there is no terminal.
crypto::PassphraseSource MakePassphraseSource(const PassphraseOptions& options,
                                              const std::string& prompt);

// The source for a new key's passphrase; asks twice on the terminal.
crypto::PassphraseSource MakeNewPassphraseSource(const PassphraseOptions& options);

// `status` with its message prefixed by the file's path.
base::Status About(const std::string& path, const base::Status& status);

// crypto::ReadKeyFile. A file that is refused for its owner or mode and holds no key is called so,
// because a user who mistook the path must not change the mode of some other file.
base::StatusOr<std::string> ReadKey(const std::string& path);

// Reads and decrypts a key file. Every message names the file.
base::StatusOr<crypto::SigningKey> LoadKey(const std::string& path,
                                           const PassphraseOptions& options);

}  // namespace ostraka::cli
