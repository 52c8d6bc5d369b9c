// A rule with its pre-aggregations as command-line options, for `aggregate` and `attack`.
//
// Thread safety: pure functions, except AddRuleOptions, which is called before parsing.
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

// The names that --rule and --pre take.
std::vector<std::string> RuleNames();
std::vector<std::string> PreAggregationNames();

// Adds --rule, --pre, --f, and `param_option` for the rule's parameters.
void AddRuleOptions(CLI::App& command, const char* param_option, RuleOptions& options);

// Errors as ParseArgument, ParseElement and Pipeline::Make.
base::StatusOr<aggregation::Pipeline> MakePipeline(const RuleOptions& options, bool drop_invalid);

// Parses texts of the form "name=value".
base::StatusOr<aggregation::Arguments> ParseArguments(const std::vector<std::string>& texts);

}  // namespace ostraka::cli
