// Golden vectors on disk: hexadecimal, 32 bytes a line; lines that start with # are comments.
#pragma once

#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::wire {

base::StatusOr<base::Bytes> ReadVector(const std::string& path);
base::Status WriteVector(const std::string& path, const std::string& comment, base::ByteView bytes);

// Raw bytes, for a fuzzer's corpus.
base::StatusOr<std::string> ReadText(const std::string& path);
base::Status WriteRaw(const std::string& path, base::ByteView bytes);

}  // namespace ostraka::wire
