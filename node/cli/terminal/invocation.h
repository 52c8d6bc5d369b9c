// The subcommand that the parsed command line chose.
//
// Each room of node/cli has a commands.h with one function per subcommand. The function adds the
// subcommand's options to the program; if the subcommand is chosen, it puts its body into the
// invocation. main.cpp knows nothing else of subcommands.
#pragma once

#include <functional>

#include "node/cli/terminal/exit_code.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct Invocation {
  std::function<ExitCode()> body;  // of the chosen subcommand
};

}  // namespace ostraka::cli
