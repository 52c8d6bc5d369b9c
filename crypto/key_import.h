// Imports Ed25519 keys that other programs made.
//
//   raw    the 32 byte seed as 64 hexadecimal digits
//   PEM    PKCS #8 without a passphrase (RFC 8410), as `openssl genpkey -algorithm ed25519` writes
//
// Thread safety: pure functions.
#pragma once

#include <string_view>

#include "crypto/sign.h"
#include "node/base/status.h"

namespace ostraka::crypto {

// InvalidArgument: neither format; the message has advice for common other formats.
base::StatusOr<SigningKey> ImportKey(std::string_view text);

}  // namespace ostraka::crypto
