// Shows a running node to a person (a progress line on a terminal, a line in the log for what
// matters) or to a parent process.
#pragma once

#include <cstdint>
#include <memory>

#include "node/cli/terminal/log.h"
#include "node/host/node_events.h"

namespace ostraka::cli {

// `steps` is the manifest's, for the progress line. Suspicions of one peer and check are shown
// once. REQUIRES: `log` outlives the view, here and below.
std::unique_ptr<host::NodeEvents> MakePeopleView(std::uint64_t steps, Log& log);

// One JSON object a line on stdout, flushed; notices go to the log. Suspicions of one peer and
// check are told once a step.
std::unique_ptr<host::NodeEvents> MakeJsonView(Log& log);

}  // namespace ostraka::cli
