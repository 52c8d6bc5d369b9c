// Decompresses gzip files, in which data sets are often distributed.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::train {

bool LooksLikeGzip(base::ByteView bytes);

// The content of a gzip file (RFC 1952): of its members, one after another, each with verified
// checksum and length. Zeros may follow, as tapes and block writers leave them. So it reads what
// zcat reads without a warning. Memory stays below twice `max_bytes`, whatever the bytes claim.
// InvalidArgument: no gzip, cut short, damaged, other bytes after its end, or more than max_bytes.
base::StatusOr<base::Bytes> Gunzip(base::ByteView bytes, std::size_t max_bytes);

}  // namespace ostraka::train
