#include "node/cli/options/source_options.h"

#include <CLI/CLI.hpp>
#include <string>

#include "node/cli/terminal/byte_count.h"

namespace ostraka::cli {

void AddPrivateSources(CLI::App& command, bool& allow) {
  command.add_flag("--allow-private-sources", allow,
                   "fetch a stream from addresses of this machine and of private networks, too");
}

void AddDataCache(CLI::App& command, std::string& cache) {
  command
      .add_option("--data-cache", cache,
                  "of a stream, keep so many bytes of what was fetched; 0: nothing")
      // Also where nothing is fetched: a typing error is told at once.
      ->check(
          [](const std::string& text) { return base::MessageOf(ParseByteCount(text).status()); })
      ->capture_default_str();
}

}  // namespace ostraka::cli
