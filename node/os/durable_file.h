// Files that exist whole or not at all, also after a power cut.
//
// Thread safety: any thread; two writers of one path must not overlap.
#pragma once

#include <span>
#include <string>

#include "node/base/bytes.h"
#include "node/base/status.h"

namespace ostraka::os {

enum class IfExists { kReplace, kRefuse };

// Writes `pieces` in order to a temporary file beside `path`, syncs it and gives it its final name.
// What is no regular file, such as /dev/stdout, is written into and never replaced (kReplace).
// A crash leaves at most "<path>.tmp", which the next write of `path` overwrites.
// FailedPrecondition: `path` exists (kRefuse). Unavailable: the folder is missing or not writable,
// or the disk is full. The message is one line without advice, which the caller adds.
base::Status WriteDurably(const std::string& path, std::span<const base::ByteView> pieces,
                          IfExists if_exists);

// Gives `path` this content in one step, without waiting for the disk: a reader sees the old file
// or the new one, also after a crash of the process, and after a power cut perhaps an empty one.
// For what is useful and can be lost. Leftovers and errors are those of WriteDurably.
base::Status ReplaceQuickly(const std::string& path, base::ByteView content);

}  // namespace ostraka::os
