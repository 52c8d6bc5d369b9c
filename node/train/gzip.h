// Decompresses gzip files, in which data sets are often distributed.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::train {

bool LooksLikeGzip(base::ByteView bytes);

// The content of one gzip member (RFC 1952), with verified checksum and length. Memory stays below
// twice `max_bytes`, whatever the bytes claim.
// InvalidArgument: no gzip, cut short, damaged, bytes after its end, or more than max_bytes.
base::StatusOr<base::Bytes> Gunzip(base::ByteView bytes, std::size_t max_bytes);

}  // namespace ostraka::train
