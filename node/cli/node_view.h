// Shows a running node to a person: a progress line on a terminal, a line for what matters.
// Everything goes to stderr; stdout is for results.
#pragma once

#include <cstdint>
#include <memory>

#include "node/runtime/node_events.h"

namespace ostraka::cli {

// `steps` is the manifest's, for the progress line. Suspicions of one peer and check are shown
// once.
std::unique_ptr<runtime::NodeEvents> MakePeopleView(std::uint64_t steps, bool verbose);

// One JSON object a line on stdout, flushed, for a parent process.
std::unique_ptr<runtime::NodeEvents> MakeJsonView();

}  // namespace ostraka::cli
