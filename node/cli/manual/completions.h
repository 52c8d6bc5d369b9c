// Completions of commands, options and file names for shells.
//
// Each is a script with the commands as data: it runs no ostraka while somebody types. A value is
// completed as a file name, because a declaration does not say which values it takes.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "node/cli/manual/command_tree.h"

namespace ostraka::cli {

std::string BashCompletion(const CommandText& program);
std::string ZshCompletion(const CommandText& program);
std::string FishCompletion(const CommandText& program);

}  // namespace ostraka::cli
