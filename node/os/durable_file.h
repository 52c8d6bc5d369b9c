// Files that are there whole or not at all, also after a power cut.
//
// Thread safety: any thread; two writers of one path must not overlap.
#pragma once

#include <span>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::os {

enum class IfExists { kReplace, kRefuse };

// Writes `pieces`, one after the other, to a temporary file beside `path`, syncs it and gives it
// its name. A crash leaves at most "<path>.tmp", which the next write of the same path overwrites.
// FailedPrecondition: it exists (kRefuse). Unavailable: the folder is missing or cannot be written,
// the disk is full. The message is one line without advice, which the caller knows better.
base::Status WriteDurably(const std::string& path, std::span<const base::ByteView> pieces,
                          IfExists if_exists);

}  // namespace ostraka::os
