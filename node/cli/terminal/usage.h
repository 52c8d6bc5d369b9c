// Usage errors in one line that names the word that was meant.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ostraka::cli {

// Every option that takes an unsigned number then refuses negative ones and those above 2^63 - 1,
// which CLI11 would wrap and a manifest could not hold.
void RefuseWrappedCounts(CLI::App& program);

// InvalidArgument for `arguments` (without the program's name), which `program` refused with
// `error`.
base::Status UsageError(const CLI::App& program, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error);

}  // namespace ostraka::cli
