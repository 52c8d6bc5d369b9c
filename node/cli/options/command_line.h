// A command line made again from what was parsed, to print as a command to type next.
//
// Thread safety: pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace ostraka::cli {

// `word` for a shell: as it is, or in quotes if a shell would read it as anything else.
std::string ShellWord(std::string_view word);

// The options that were given to `command`, but not those in `without` ("--seeds"), each with a
// space before it. REQUIRES: `command` was parsed and has no positional arguments.
std::string OptionsGiven(const CLI::App& command, const std::set<std::string>& without);

}  // namespace ostraka::cli
