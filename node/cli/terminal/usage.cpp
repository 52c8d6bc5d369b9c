#include "node/cli/terminal/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

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

bool HasDigitsOnly(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Turns a whole number into the form that CLI11 reads as decimal. Returns what is wrong with it.
std::string TidyWhole(std::string& text, bool may_be_negative) {
  const bool negative = may_be_negative && text.starts_with('-');
  std::string_view digits = text;
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (!HasDigitsOnly(digits)) {
    return std::string("must be a whole number") + (may_be_negative ? "" : " of at least 0") +
           ", not '" + text + "'";
  }
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) {
    return "must be at most " + std::to_string(std::numeric_limits<std::int64_t>::max()) +
           ", not '" + text + "'";
  }
  text = (negative ? "-" : "") + std::string(digits);
  return "";
}

std::string TidyReal(std::string& text) {
  std::string_view number = text;
  if (number.starts_with('+') && !number.starts_with("+-")) number.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range) {
    return "must be a number that a double can hold, not '" + text + "'";
  }
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
    return "must be a number such as 0.01 or 1e-3, not '" + text + "'";
  }
  text = std::string(number);
  return "";
}

// A validator that may change the text, before those that are there already.
void Tidy(CLI::Option& option, std::string (*tidy)(std::string&)) {
  option.transform(CLI::Validator(tidy, ""));
}

// Lists that were given, with the advice to repeat their names: one of them may have been meant to
// take the word that nobody takes. Empty if there is none.
std::string ListAdvice(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_positional() || option->get_expected_max() <= 1) {
      continue;
    }
    names += (names.empty() ? "" : " and ") + option->get_name();
  }
  return names.empty() ? "" : "; " + names + " takes one value: write it before each";
}

// Describes the error in `words`, the arguments after the subcommand `app`; empty if CLI11's own
// message is as good.
std::string Unknown(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> commands = SubcommandNames(app);
  const std::vector<std::string> options = OptionNames(app);
  int values = 0;  // of the option before, still to come
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (LooksLikeOption(word)) {
      const CLI::Option* option = app.get_option_no_throw(name);
      values = option == nullptr || name != word ? 0 : option->get_items_expected_min();
    } else if (values > 0) {
      --values;
      continue;
    }
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

void ReadOptionsAsWritten(CLI::App& program) {
  std::vector<CLI::App*> apps = {&program};
  while (!apps.empty()) {
    CLI::App* app = apps.back();
    apps.pop_back();
    const bool has_words = TakesWords(*app);
    for (CLI::Option* option : app->get_options()) {
      // "UINT:INT in [1 - 1024]": the type, and then the check's description.
      const std::string described = option->get_type_name();
      const std::string type = described.substr(0, described.find(':'));
      if (type == "UINT") Tidy(*option, [](std::string& text) { return TidyWhole(text, false); });
      if (type == "INT") Tidy(*option, [](std::string& text) { return TidyWhole(text, true); });
      if (type == "FLOAT") Tidy(*option, TidyReal);
      if (has_words && !option->get_positional()) option->allow_extra_args(false);
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
  if (message.empty()) {
    message = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) message += ListAdvice(*app);
  }
  return base::InvalidArgument(message + " (see `" + path + " --help`)");
}

}  // namespace ostraka::cli
