// Attacks as command-line options, for `node`, `swarm` and `sim`.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "node/base/status.h"
#include "sim/attacks/registry.h"

namespace ostraka::cli {

// Parses texts of the form "name=value". InvalidArgument quotes a malformed text.
base::StatusOr<sim::AttackParams> ParseAttackParams(const std::vector<std::string>& texts);

// The attacks of `sim`, `swarm` and `node`.
std::vector<std::string> AttackNames();

// InvalidArgument, with a list of what is known, unless the attack exists and has these parameters.
base::Status CheckAttack(const std::string& name, const std::vector<std::string>& params);

}  // namespace ostraka::cli
