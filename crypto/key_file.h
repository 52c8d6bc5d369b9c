// Identity key files: an Ed25519 seed, encrypted with a passphrase unless the user says otherwise.
//
// Format (text, two lines):
//   ostraka identity key <public key, 64 hex digits>
//   <base64 of: magic "OSK1" | kdf "A2" or "--" | salt16 | u32 ops | u32 mem_kib | nonce24 |
//               XChaCha20-Poly1305(seed32 | public key32)>
// The header (everything before the ciphertext) is the additional data, so it cannot be altered.
// Argon2id, default 3 passes over 256 MiB (0.4 s). On reading, more than 1 GiB or 10 passes is
// refused before any memory is taken: a hostile file must not exhaust the machine.
//
// Files are made with O_EXCL | O_NOFOLLOW, mode 0600, fsynced, renamed into place; an existing file
// is never overwritten. Reading refuses a file that group or others may read, or another user's.
//
// Thread safety: free functions; not for concurrent use on one path.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::crypto {

// Argon2id's cost. Tests inject a cheap one; readers take any within the limits above.
struct KdfCost {
  std::uint32_t ops = 3;
  std::uint32_t memory_kib = 256 * 1024;
};

// Called only if the file is encrypted.
using PassphraseSource = std::function<base::StatusOr<std::string>()>;

// The file's text, with salt and nonce from the operating system. Without a passphrase the key is
// stored in the clear. InvalidArgument: an empty passphrase, or a cost outside the limits.
// Unavailable: no memory for Argon2id.
base::StatusOr<std::string> EncodeKeyFile(const SigningKey& key,
                                          std::optional<std::string_view> passphrase,
                                          KdfCost cost = {});
// Pure; any bytes are safe. Wrong passphrase and altered file are told apart only by the message
// "wrong passphrase, or the file was altered".
base::StatusOr<SigningKey> DecodeKeyFile(std::string_view text, const PassphraseSource& passphrase);
// The public key that the first line claims, without the passphrase; and whether one is needed.
struct KeyFileInfo {
  base::PeerId id;
  bool encrypted = false;
};
base::StatusOr<KeyFileInfo> InspectKeyFile(std::string_view text);

base::Status WriteKeyFile(const std::string& path, std::string_view text);
// Checks owner and mode, and reads at most 4 KiB.
base::StatusOr<std::string> ReadKeyFile(const std::string& path);

}  // namespace ostraka::crypto
