// Which addresses a command may fetch data in chunks from, and what it keeps of them.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ostraka::cli {

// --allow-private-sources: config::StreamSettings::allow_private.
void AddPrivateSources(CLI::App& command, bool& allow);
// --data-cache, in bytes.
void AddDataCache(CLI::App& command, std::string& cache);

}  // namespace ostraka::cli
