// A rule with its pre-aggregations as options: `aggregate` and `attack` share them.
//
// Thread safety: pure functions, but for AddRuleOptions, which is called before parsing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/rules/pipeline.h"
#include "node/base/status.h"

namespace CLI {
class App;
}

namespace ostraka::cli {

struct RuleOptions {
  std::string rule;
  std::vector<std::string> params;  // name=value
  std::vector<std::string> pre;     // name or name:key=value,key=value
  std::optional<std::uint64_t> f;
};

// --rule, --pre, --f, and `param_option` for the rule's parameters.
void AddRuleOptions(CLI::App& command, const char* param_option, RuleOptions& options);

// Errors as ParseArgument, ParseElement and Pipeline::Make.
base::StatusOr<aggregation::Pipeline> MakePipeline(const RuleOptions& options, bool drop_invalid);

// "name=value" each.
base::StatusOr<aggregation::Arguments> ParseArguments(const std::vector<std::string>& texts);

}  // namespace ostraka::cli
