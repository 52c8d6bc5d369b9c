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

// Makes every option of `program` mean what a person wrote.
// - A number is decimal: 010 is ten, where CLI11 reads eight. 0x10, 1_000, 1e3 for a whole number,
//   nan, and numbers out of range, which CLI11 would wrap, are refused.
// - In a command that takes words without names, such as FILE, a name takes one value, so that a
//   list does not swallow them.
void ReadOptionsAsWritten(CLI::App& program);

// The error for `arguments` (without the program's name) that `program` refused with `error`.
base::Status UsageError(const CLI::App& program, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error);

}  // namespace ostraka::cli
