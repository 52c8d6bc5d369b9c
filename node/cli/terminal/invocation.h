// What a subcommand leaves when the command line is parsed.
//
// Each room of node/cli has a commands.h with one function a subcommand; it adds its options to the
// program and, if it was chosen, its body to the invocation. main.cpp knows nothing else of them.
#pragma once

#include <functional>

#include "node/cli/terminal/exit_code.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct Invocation {
  std::function<ExitCode()> body;  // of the subcommand that was chosen
};

}  // namespace ostraka::cli
