// Attacks as options: `node`, `swarm` and `sim` share them.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/attacks/registry.h"

namespace ostraka::cli {

// From "name=value" each. InvalidArgument quotes the text that is not so.
base::StatusOr<sim::AttackParams> ParseAttackParams(const std::vector<std::string>& texts);

// InvalidArgument, listing what is known, unless the attack exists and has these parameters.
base::Status CheckAttack(const std::string& name, const std::vector<std::string>& params);

}  // namespace ostraka::cli
