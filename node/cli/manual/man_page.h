// The manual page ostraka(1), as text for man and groff.
//
// Thread safety: a pure function.
#pragma once

#include <string>

#include "node/cli/manual/command_tree.h"

namespace ostraka::cli {

// One page for `program` and each command below it. `version` is "0.1.0".
std::string ManPage(const CommandText& program, const std::string& version);

}  // namespace ostraka::cli
