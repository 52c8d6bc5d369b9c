// Attacks as options: `node`, `swarm` and `sim` share them.
//
// Thread safety: pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/base/status.h"

namespace ostraka::cli {

// From "name=number" each. InvalidArgument quotes the text that is not so.
base::StatusOr<std::map<std::string, double>> ParseAttackParams(
    const std::vector<std::string>& texts);

// InvalidArgument, listing what is known, unless the attack exists and has these parameters.
base::Status CheckAttack(const std::string& name, const std::vector<std::string>& params);

}  // namespace ostraka::cli
