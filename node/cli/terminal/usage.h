// Usage errors in one line that suggests the intended option or subcommand.
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

// Makes every option with an unsigned number refuse negative numbers and those above 2^63 - 1,
// which CLI11 would wrap and a manifest cannot hold.
void RefuseWrappedCounts(CLI::App& program);

// The error for `arguments` (without the program's name) that `program` refused with `error`.
base::Status UsageError(const CLI::App& program, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error);

}  // namespace ostraka::cli
