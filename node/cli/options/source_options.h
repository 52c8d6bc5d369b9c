// Which addresses a command may fetch data in chunks from.
#pragma once

namespace CLI {
class App;
}

namespace ostraka::cli {

// --allow-private-sources: config::StreamSettings::allow_private.
void AddPrivateSources(CLI::App& command, bool& allow);

}  // namespace ostraka::cli
