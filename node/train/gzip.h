// gzip files, as data sets are handed out.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::train {

bool LooksLikeGzip(base::ByteView bytes);

// What one gzip member holds (RFC 1952), its checksum and length verified. Memory stays below twice
// `max_bytes`, whatever the bytes claim.
// InvalidArgument: no gzip, cut short, damaged, bytes after its end, or more than max_bytes.
base::StatusOr<base::Bytes> Gunzip(base::ByteView bytes, std::size_t max_bytes);

}  // namespace ostraka::train
