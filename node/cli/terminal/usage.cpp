#include "node/cli/terminal/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "node/base/suggest.h"

namespace ostraka::cli {
namespace {

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(child->get_name());
  }
  return names;
}

// True if `app` accepts words that are neither options nor subcommands.
bool TakesWords(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// False for a negative number, which is an option's value.
bool LooksLikeOption(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9');
}

std::string CountError(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (whole && value <= kMost) return "";
  const bool all_digits =
      !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (all_digits) return "must be at most " + std::to_string(kMost) + ", not '" + text + "'";
  return "must be a whole number of at least 0, not '" + text + "'";
}

// Describes the error in `words`, the arguments after the subcommand `app`; empty if CLI11's own
// message is as good.
std::string Unknown(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> commands = SubcommandNames(app);
  const std::vector<std::string> options = OptionNames(app);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (LooksLikeOption(word) && !Contains(options, name)) {
      const std::string meant = base::ClosestName(name, options);
      return "unknown option '" + name + "'" +
             (meant.empty() ? "" : "; did you mean '" + meant + "'?");
    }
    if (!LooksLikeOption(word) && !commands.empty() && !TakesWords(app)) {
      return "unknown subcommand '" + word + "'" + base::SuggestionFor(word, commands);
    }
  }
  if (commands.empty() || TakesWords(app)) return "";
  std::string list;
  for (const std::string& command : commands) list += (list.empty() ? "" : ", ") + command;
  return "give a subcommand: " + list;
}

}  // namespace

void RefuseWrappedCounts(CLI::App& program) {
  std::vector<CLI::App*> apps = {&program};
  while (!apps.empty()) {
    CLI::App* app = apps.back();
    apps.pop_back();
    for (CLI::Option* option : app->get_options()) {
      if (option->get_type_name() == "UINT") option->check(CLI::Validator(CountError, "", "count"));
    }
    for (CLI::App* child : app->get_subcommands([](CLI::App*) { return true; })) {
      apps.push_back(child);
    }
  }
}

base::Status UsageError(const CLI::App& program, const std::vector<std::string>& arguments,
                        const CLI::ParseError& error) {
  const CLI::App* app = &program;
  std::string path = "ostraka";
  std::size_t used = 0;
  for (; used < arguments.size(); ++used) {
    if (!Contains(SubcommandNames(*app), arguments[used])) break;
    app = app->get_subcommand(arguments[used]);
    path += " " + arguments[used];
  }
  std::string message;
  // CLI11 reports a missing required option before an unknown one.
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    message =
        Unknown(*app, {arguments.begin() + static_cast<std::ptrdiff_t>(used), arguments.end()});
  }
  if (message.empty()) message = error.what();
  return base::InvalidArgument(message + " (see `" + path + " --help`)");
}

}  // namespace ostraka::cli
