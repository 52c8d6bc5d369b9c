// Creates files for the user.
#pragma once

#include <string>

#include "node/base/status.h"

namespace CLI {
class Option;
}

namespace ostraka::cli {

// Makes an option that names a file or folder to write refuse "-": other programs mean standard
// output by it, and a file of that name is hard to remove.
CLI::Option* WritesTo(CLI::Option* option);

// FailedPrecondition if `path` exists, as of WriteNewFile: for whoever has much to do before.
base::Status CheckIsNew(const std::string& path);

// Creates `path` with `text`, durably. FailedPrecondition if it exists: nothing is overwritten.
// Unavailable: it cannot be created or written; then no file is left.
base::Status WriteNewFile(const std::string& path, const std::string& text);

// FailedPrecondition if a file `path` exists and `force` is false, with the advice to give --force.
// What is no regular file, such as /dev/stdout, is never replaced and so accepted.
base::Status CheckReplaces(const std::string& path, bool force);

}  // namespace ostraka::cli
