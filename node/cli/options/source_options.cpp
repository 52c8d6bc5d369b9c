#include "node/cli/options/source_options.h"

#include <CLI/CLI.hpp>

namespace ostraka::cli {

void AddPrivateSources(CLI::App& command, bool& allow) {
  command.add_flag("--allow-private-sources", allow,
                   "fetch a stream from addresses of this machine and of private networks, too");
}

}  // namespace ostraka::cli
