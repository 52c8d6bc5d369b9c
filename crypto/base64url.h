// Base64url without padding (RFC 4648, 5): bytes as text that a shell, a URL and a chat leave
// alone.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::crypto {

std::string ToBase64Url(base::ByteView bytes);

// Strict: InvalidArgument unless `text` is exactly ToBase64Url of some bytes, which are returned.
// Any text is safe.
base::StatusOr<base::Bytes> FromBase64Url(std::string_view text);

}  // namespace ostraka::crypto
