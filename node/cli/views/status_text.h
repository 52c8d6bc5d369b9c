// A node's status as lines for people (`ostraka status`).
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ostraka::cli {

// `status`: what StatusJson says of a node that runs, or what the ledger of one
// that does not run has (docs/json.md). Throws json::exception if keys are missing or of another
// type.
std::string StatusText(const nlohmann::json& status);

// What a step sends, gets and writes, without an end. `costs`: the status's step_costs.
std::string StepTrafficText(const nlohmann::json& costs);

}  // namespace ostraka::cli
