// What a failed run leaves for its repetition: a folder, or if there can be none, its options.
//
// Thread safety: free functions; they write to the current folder.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "node/base/status.h"
#include "sim/setup/options.h"

namespace ostraka::cli {

// Runs `options` again to record it, and writes a new folder ostraka-sim-seed-N with
// options.replay, events.txt (the last events) and sequence.mmd; returns its path. If that folder
// exists, the next free one of ostraka-sim-seed-N-2, -3, ... is made; one that holds this very run
// is returned as it is. Nothing is overwritten. Unavailable: it cannot be written.
base::StatusOr<std::string> WriteBundle(const sim::SimOptions& options);

// {"options","replay"}, and "not_written", the reason, if no bundle could be written. `options` is
// the line that a replay file contains, `replay` the command that repeats the run. A bundle that
// cannot be written is no error, so that the failure itself is always reported.
nlohmann::json ReplayOf(const sim::SimOptions& options);

// Lines for a person about such an object.
std::string ReplayText(const nlohmann::json& replay);

}  // namespace ostraka::cli
