// Shows a running node to a person (a progress line on a terminal, log lines for important events)
// or to a parent process.
#pragma once

#include <cstdint>
#include <memory>

#include "node/cli/terminal/log.h"
#include "node/host/report/node_events.h"

namespace ostraka::cli {

// `steps` comes from the manifest, for the progress line. Repeated suspicions with equal peer and
// check are shown once. REQUIRES: `log` outlives the view (also below).
std::unique_ptr<host::NodeEvents> MakePeopleView(std::uint64_t steps, Log& log);

// One JSON object per line on stdout, flushed; notices go to the log. Repeated suspicions with
// equal peer and check are reported once per step.
std::unique_ptr<host::NodeEvents> MakeJsonView(Log& log);

}  // namespace ostraka::cli
