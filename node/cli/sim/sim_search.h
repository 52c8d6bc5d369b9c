// `ostraka sim search`: searches for attack scripts that break a run (sim/search/search.h).
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "node/base/status.h"
#include "sim/search/search.h"

namespace ostraka::cli {

// Runs the search and prints its findings, each failure with a folder for replay (WriteBundle); as
// one object if `json` (docs/json.md). Returns true if nothing failed.
base::StatusOr<bool> SearchScripts(const sim::SearchOptions& options, bool json);

}  // namespace ostraka::cli
