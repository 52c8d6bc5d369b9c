#include "node/cli/manual/command_tree.h"

#include <CLI/CLI.hpp>

#include "node/cli/options/choices.h"

namespace ostraka::cli {
namespace {

OptionText TextOf(CLI::Option& option) {
  OptionText text;
  text.meaning = option.get_description();
  text.required = option.get_required();
  text.fallback = option.get_default_str();
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (text.names.empty()) text.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() == 0) return text;
  // "UINT:INT in [1 - 1024]": the type, and then the check's description.
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  text.value = type.substr(0, colon);
  if (colon != std::string::npos) text.limits = type.substr(colon + 1);
  text.choices = ChoicesOf(option);
  text.repeats = option.get_items_expected_max() > 1;
  return text;
}

}  // namespace

CommandText TreeOf(CLI::App& app, const std::string& above) {
  CommandText text;
  text.name = app.get_name();
  text.path = above.empty() ? text.name : above + " " + text.name;
  text.summary = app.get_description();
  text.footer = app.get_footer();
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? text.words : text.options).push_back(TextOf(*option));
  }
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    if (!child->get_group().empty()) text.commands.push_back(TreeOf(*child, text.path));
  }
  return text;
}

}  // namespace ostraka::cli
