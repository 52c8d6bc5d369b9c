// Byte counts as people write them: 4096, 64K, 16M, 2G (powers of 1024).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base/status.h"

namespace ostraka::cli {

// InvalidArgument, without the option's name: malformed, or above 2^62.
base::StatusOr<std::uint64_t> ParseByteCount(std::string_view text);

}  // namespace ostraka::cli
