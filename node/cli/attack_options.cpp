#include "node/cli/attack_options.h"

#include <cstdlib>

#include "sim/adversary/registry.h"

namespace ostraka::cli {

base::StatusOr<std::map<std::string, double>> ParseAttackParams(
    const std::vector<std::string>& texts) {
  std::map<std::string, double> params;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    char* end = nullptr;
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') {
      return base::InvalidArgument("--attack-param '" + text + "': write name=number");
    }
    params[text.substr(0, equals)] = number;
  }
  return params;
}

base::Status CheckAttack(const std::string& name, const std::vector<std::string>& params) {
  ASSIGN_OR_RETURN(const sim::KnownAttack attack, sim::FindAttack(name));
  ASSIGN_OR_RETURN(const auto given, ParseAttackParams(params));
  return sim::CompleteParams(attack, given).status();
}

}  // namespace ostraka::cli
