#include "node/cli/arrays/rule_options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "node/cli/options/choices.h"

namespace ostraka::cli {
namespace {

template <typename Registry>
std::vector<std::string> NamesOf(const Registry& registry) {
  std::vector<std::string> names;
  for (const auto* entry : registry) names.emplace_back(entry->about.name);
  return names;
}

}  // namespace

std::vector<std::string> RuleNames() { return NamesOf(aggregation::Rules()); }
std::vector<std::string> PreAggregationNames() { return NamesOf(aggregation::PreAggregations()); }

void AddRuleOptions(CLI::App& command, const char* param_option, RuleOptions& options) {
  OfferChoices(command.add_option("--rule", options.rule,
                                  "name of the rule; `ostraka aggregate --list` prints all"),
               RuleNames());
  command.add_option(param_option, options.params, "name=value, a parameter of the rule");
  OfferChoices(
      command.add_option(
          "--pre", options.pre,
          "a pre-aggregation, such as nnm or bucketing:s=2,seed=7; several are applied in order"),
      PreAggregationNames());
  command.add_option("--f", options.f,
                     "number of Byzantine rows to tolerate, for the rule and for --pre");
}

base::StatusOr<aggregation::Arguments> ParseArguments(const std::vector<std::string>& texts) {
  aggregation::Arguments arguments;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(auto argument, aggregation::ParseArgument(text));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

base::StatusOr<aggregation::Pipeline> MakePipeline(const RuleOptions& options, bool drop_invalid) {
  aggregation::PipelineSpec spec;
  spec.rule.name = options.rule;
  ASSIGN_OR_RETURN(spec.rule.arguments, ParseArguments(options.params));
  for (const std::string& text : options.pre) {
    ASSIGN_OR_RETURN(auto element, aggregation::ParseElement(text));
    spec.pre.push_back(std::move(element));
  }
  spec.f = options.f;
  spec.drop_invalid = drop_invalid;
  return aggregation::Pipeline::Make(std::move(spec));
}

}  // namespace ostraka::cli
