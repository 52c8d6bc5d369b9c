#include "node/cli/options/attack_options.h"

namespace ostraka::cli {

base::StatusOr<sim::AttackParams> ParseAttackParams(const std::vector<std::string>& texts) {
  sim::AttackParams params;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return base::InvalidArgument("--attack-param '" + text + "': write name=value");
    }
    params[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return params;
}

std::vector<std::string> AttackNames() {
  std::vector<std::string> names;
  for (const sim::KnownAttack& attack : sim::KnownAttacks()) names.push_back(attack.name);
  return names;
}

base::Status CheckAttack(const std::string& name, const std::vector<std::string>& params) {
  ASSIGN_OR_RETURN(const sim::KnownAttack attack, sim::FindAttack(name));
  ASSIGN_OR_RETURN(const auto given, ParseAttackParams(params));
  return sim::CheckParams(attack, given);
}

}  // namespace ostraka::cli
