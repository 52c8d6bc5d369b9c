// Identity key files: an Ed25519 seed, encrypted with a passphrase unless the user chooses
// otherwise.
//
// Format (text, two lines):
//   ostraka identity key <public key, 64 lower-case hex digits>
//   <base64, padded, of: magic "OSK1" | kdf "A2" or "--" | salt16 | u32 ops | u32 mem_kib |
//                        nonce24 | body>
// Numbers are little-endian. With kdf "A2" the body is XChaCha20-Poly1305(seed32 | public key32)
// under Argon2id(passphrase, salt, ops, mem_kib). The header (everything before the body) is the
// additional data, so it cannot be altered. With "--" salt, costs and nonce are zero and the body
// is seed32 | public key32 in the clear. Each key has exactly one text: other spellings are
// refused.
//
// Argon2id, default 3 passes over 256 MiB (0.4 s). Attack: a hostile file asks for a cost that
// exhausts the machine; more than 1 GiB or 10 passes is refused before any memory is allocated.
//
// A file is written under a temporary name (O_EXCL, mode 0600), fsynced, and then linked to its
// final name. Unlike rename, link never replaces a file, so an existing key is never overwritten.
// Reading refuses symbolic links, files that group or others may open, and files of another user.
//
// Thread safety: free functions; not for concurrent use on one path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "crypto/sign.h"
#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::crypto {

// Longest accepted key file; real ones have some 270 bytes.
inline constexpr std::size_t kMaxKeyFileBytes = 4096;

// Argon2id's cost. Tests inject a cheap one; readers accept any within the limits.
struct KdfCost {
  static constexpr std::uint32_t kMaxOps = 10;
  static constexpr std::uint32_t kMinMemoryKib = 8;  // Argon2's own minimum
  static constexpr std::uint32_t kMaxMemoryKib = 1024 * 1024;

  std::uint32_t ops = 3;
  std::uint32_t memory_kib = 256 * 1024;

  bool operator==(const KdfCost&) const = default;
};

// Called only if the file is encrypted and its cost within the limits.
using PassphraseSource = std::function<base::StatusOr<std::string>()>;

// Returns the file's text, with salt and nonce from the operating system. Without a passphrase the
// key is stored in the clear, and the text is as secret as the key. InvalidArgument: an empty
// passphrase, or a cost outside the limits. Unavailable: no memory for Argon2id.
base::StatusOr<std::string> EncodeKeyFile(const SigningKey& key,
                                          std::optional<std::string_view> passphrase,
                                          KdfCost cost = {});

// Pure; any bytes are safe. InvalidArgument: not a key file, damaged, a cost outside the limits, or
// "wrong passphrase, or the file was altered", which cannot be told apart. Unavailable: no memory
// for Argon2id. An error of `passphrase` is passed on.
base::StatusOr<SigningKey> DecodeKeyFile(std::string_view text, const PassphraseSource& passphrase);

struct KeyFileInfo {
  base::PeerId id;         // claimed by the first line; DecodeKeyFile checks it
  bool encrypted = false;  // whether a passphrase is needed
  KdfCost cost{0, 0};      // zeros unless encrypted
};
// What is known without the passphrase. The errors of DecodeKeyFile that need none.
base::StatusOr<KeyFileInfo> InspectKeyFile(std::string_view text);

// FailedPrecondition: `path` exists or its folder is not writable. NotFound: no such folder.
// Unavailable: the disk failed; nothing is left under `path`, unless the message says so.
base::Status WriteKeyFile(const std::string& path, std::string_view text);

// WriteKeyFile for an existing `path` that ReadKeyFile accepts: at every moment it holds either the
// old text or the new one, whole. Also returns the errors of ReadKeyFile.
base::Status ReplaceKeyFile(const std::string& path, std::string_view text);

// Reads at most kMaxKeyFileBytes and does not parse them; leaves out what editors of other systems
// add (node/base/foreign_text.h). NotFound: no file. FailedPrecondition:
// the owner, mode or kind of the file is refused. InvalidArgument: too long, or in UTF-16.
base::StatusOr<std::string> ReadKeyFile(const std::string& path);

}  // namespace ostraka::crypto
