// `ostraka sim search`: scripts that nobody thought of, until one breaks a run
// (sim/search/search.h).
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"
#include "sim/search/search.h"

namespace ostraka::cli {

// Runs the search and prints what it found, each failure with a folder to replay it from
// (WriteBundle); with `json` as one object (docs/json.md). True: nothing failed.
base::StatusOr<bool> SearchScripts(const sim::SearchOptions& options, bool json);

}  // namespace ostraka::cli
